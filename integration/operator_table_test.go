package integration

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// operatorRow is a line of testdata/operator.txt.
type operatorRow struct {
	row, does string
	none      map[string]string // surfaces that have no such attack: why
}

// operatorRows reads testdata/operator.txt: what is printed for each key.
func operatorRows(t *testing.T) map[string]operatorRow {
	t.Helper()
	f, err := os.Open("../testdata/operator.txt")
	require.NoError(t, err)
	defer f.Close()
	rows := map[string]operatorRow{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.Split(lines.Text(), "\t")
		if fields[0] != "-" {
			require.Len(t, fields, 3, lines.Text())
			require.NotContains(t, rows, fields[0])
			rows[fields[0]] = operatorRow{fields[1], fields[2], map[string]string{}}
			continue
		}
		require.Len(t, fields, 4, lines.Text())
		for _, key := range strings.Fields(fields[1]) {
			require.Contains(t, rows, key, lines.Text())
			for _, surface := range strings.Fields(fields[2]) {
				require.True(t, slices.ContainsFunc(leavers, func(l leaver) bool { return l.name == surface }), lines.Text())
				require.NotContains(t, rows[key].none, surface, lines.Text())
				rows[key].none[surface] = fields[3]
			}
		}
	}
	return rows
}

// tableRow prints that an attack failed on a surface, and succeeded there without
// the guard. It is called once both have been seen.
func tableRow(t *testing.T, key, surface string) {
	t.Helper()
	row, known := operatorRows(t)[key]
	require.True(t, known, "no row %q in testdata/operator.txt", key)
	name, _, _ := strings.Cut(surface, "-")
	require.NotContains(t, row.none, name, "%s has the attack %q", surface, key)
	fmt.Printf("[table] %s %-12s the attack %s: refused; without the guard: done\n", row.row, surface, row.does)
}

// tableNone prints that a surface has no such attack, and why.
func tableNone(t *testing.T, key, surface, why string) {
	t.Helper()
	row, known := operatorRows(t)[key]
	require.True(t, known, "no row %q in testdata/operator.txt", key)
	fmt.Printf("[table] %s %-12s the attack %s: -, since %s\n", row.row, surface, row.does, why)
}

// TestOperatorSurfaces prints which surfaces have no such attack.
func TestOperatorSurfaces(t *testing.T) {
	rows := operatorRows(t)
	for _, key := range sorted(rows) {
		for _, surface := range sorted(rows[key].none) {
			tableNone(t, key, surface, rows[key].none[surface])
		}
	}
}

// Every row of testdata/operator.txt is printed by a test.
func TestOperatorRows(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	named := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?:(?:tableRow|onEachRun)\(t, |\bkey: )"([a-z-]+)"`).FindAllSubmatch(text, -1) {
			named[string(m[1])] = true
		}
	}
	for key := range operatorRows(t) {
		assert.True(t, named[key], "no test prints %q", key)
	}
	require.False(t, named["no-such-row"])
}
