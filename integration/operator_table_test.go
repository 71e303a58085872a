package integration

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// operatorRows reads testdata/operator.txt: what is printed for each key.
func operatorRows(t *testing.T) map[string][2]string {
	t.Helper()
	f, err := os.Open("../testdata/operator.txt")
	require.NoError(t, err)
	defer f.Close()
	rows := map[string][2]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.SplitN(lines.Text(), "\t", 3)
		require.Len(t, fields, 3, lines.Text())
		require.NotContains(t, rows, fields[0])
		rows[fields[0]] = [2]string{fields[1], fields[2]}
	}
	return rows
}

// tableRow prints that an attack failed on a surface, and succeeded there without
// the guard. It is called once both have been seen.
func tableRow(t *testing.T, key, surface string) {
	t.Helper()
	row, known := operatorRows(t)[key]
	require.True(t, known, "no row %q in testdata/operator.txt", key)
	fmt.Printf("[table] %s %-12s the attack %s: refused; without the guard: done\n", row[0], surface, row[1])
}

// tableNone prints that a surface has no such attack, and why.
func tableNone(t *testing.T, key, surface, why string) {
	t.Helper()
	row, known := operatorRows(t)[key]
	require.True(t, known, "no row %q in testdata/operator.txt", key)
	fmt.Printf("[table] %s %-12s the attack %s: -, since %s\n", row[0], surface, row[1], why)
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
