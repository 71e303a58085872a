package integration

import (
	"errors"
	"fmt"
	"os"
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
	var columns []string
	for _, s := range surfaces {
		for _, mode := range modes {
			if c := s.Name() + "/" + mode; b.got[c] != nil {
				columns = append(columns, c)
			}
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%-5s", "row")
	for _, c := range columns {
		fmt.Fprintf(&out, " %-*s", width(c), c)
	}
	out.WriteString(" title\n")
	count := map[string]int{}
	for _, row := range b.rows {
		fmt.Fprintf(&out, "%-5s", row.ID)
		for _, c := range columns {
			word := b.got[c][row.ID]
			kind, _, _ := strings.Cut(word, "(")
			count[kind]++
			fmt.Fprintf(&out, " %-*s", width(c), word)
		}
		fmt.Fprintf(&out, " %s\n", row.Title)
	}
	for _, kind := range sorted(count) {
		fmt.Fprintf(&out, "%s: %d  ", kind, count[kind])
	}
	out.WriteString("\n")
	for n := 1; n <= len(b.na.Reasons); n++ {
		fmt.Fprintf(&out, "n/a(%d): %s\n", n, b.na.Reasons[n])
	}
	fmt.Print(out.String())
	if file := os.Getenv("PINFOLD_TABLE"); file != "" {
		require.NoError(t, os.WriteFile(file, []byte(out.String()), 0o644))
	}
}

func width(column string) int { return max(len(column), len("n/a(10)")) }

// refusedFor reports whether err is a refused policy with the code. A program
// says it by W10's text and by its exit status only, see startError.
func refusedFor(err error, code string) bool {
	var c *pathresolver.ConfigError
	if errors.As(err, &c) {
		for _, v := range c.Violations {
			if v.Severity == pathresolver.SeverityError && string(v.Code) == code {
				return true
			}
		}
	}
	return false
}
