package integration

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/cases"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// table is what TestCorpus prints: row × surface × mode.
type table struct {
	rows []cases.Row
	na   *cases.NotApplicable
	mu   sync.Mutex
	got  map[string]map[string]string // column → row → word
}

func newTable(rows []cases.Row, na *cases.NotApplicable) *table {
	return &table{rows: rows, na: na, got: map[string]map[string]string{}}
}

func (b *table) set(row, column, word string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.got[column] == nil {
		b.got[column] = map[string]string{}
	}
	b.got[column][row] = word
}

// print writes the table to standard output, and to $PINFOLD_TABLE if set.
func (b *table) print(t *testing.T) {
	var lines []string
	heads := [2]string{"row  ", "     "}
	var columns []string
	for _, s := range surfaces {
		for _, mode := range modes {
			if c := s.Name() + "/" + mode; b.got[c] != nil {
				columns = append(columns, c)
				heads[0] += fmt.Sprintf(" %-*s", width(c), s.Name())
				heads[1] += fmt.Sprintf(" %-*s", width(c), mode)
			}
		}
	}
	lines = append(lines, heads[0], heads[1])
	count := map[string]int{}
	for _, row := range b.rows {
		line := fmt.Sprintf("%-5s", row.ID)
		for _, c := range columns {
			word := b.got[c][row.ID]
			kind, _, _ := strings.Cut(word, "(")
			count[kind]++
			line += fmt.Sprintf(" %-*s", width(c), word)
		}
		lines = append(lines, line+" "+row.Title)
	}
	var sums []string
	for _, kind := range sorted(count) {
		sums = append(sums, fmt.Sprintf("%s: %d", kind, count[kind]))
	}
	lines = append(lines, strings.Join(sums, "   "))
	for n := 1; n <= len(b.na.Reasons); n++ {
		lines = append(lines, fmt.Sprintf("n/a(%d): %s", n, b.na.Reasons[n]))
	}
	fmt.Println("[table] " + strings.Join(lines, "\n[table] "))
	if file := os.Getenv("PINFOLD_TABLE"); file != "" {
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	}
}

// width is that of a column, which is headed by a surface and a mode.
func width(column string) int {
	surface, mode, _ := strings.Cut(column, "/")
	return max(len(surface), len(mode))
}

// refusedFor reports whether err is a policy refused with the code. The
// command line has no codes, but texts.
func refusedFor(err error, code string) bool {
	var c *pathresolver.ConfigError
	var s *startError
	switch {
	case errors.As(err, &c):
		return slices.Contains(codes(c), code)
	case errors.As(err, &s) && s.codes != nil:
		return slices.Contains(s.codes, code)
	case errors.As(err, &s):
		// 125 is run's for its own errors, 1 that of the other commands.
		return (s.status == 125 || s.status == 1) && strings.Contains(s.text, textOf[code])
	}
	return false
}

// textOf is what the command line says for a code.
var textOf = map[string]string{
	"path_dot_dot":     "' is outside sandbox root '",
	"path_outside":     "' is outside sandbox root '",
	"path_symlink_out": "' is outside sandbox root '",
	"path_symlink":     "symbolic link",
}

func codes(c *pathresolver.ConfigError) (codes []string) {
	for _, v := range c.Violations {
		if v.Severity == pathresolver.SeverityError {
			codes = append(codes, string(v.Code))
		}
	}
	return codes
}
