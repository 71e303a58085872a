package shellshape

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the list of shapes into docs/claude-code.md")

// The documentation lists what is known.
func TestDocumented(t *testing.T) {
	const file, begin, end = "../../../../docs/claude-code.md", "-run Documented -update writes them -->\n", "<!-- end of shapes -->"
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(data), begin)
	require.True(t, ok)
	_, tail, ok := strings.Cut(rest, end)
	require.True(t, ok)
	var lines strings.Builder
	lines.WriteString("| `bash_policy` | programs with known shapes |\n|---|---|\n")
	for _, class := range []Class{ReadOnly, Explore, Test, BuildTest} {
		var names []string
		for _, s := range table {
			if s.class == class {
				names = append(names, "`"+s.head+"`")
			}
		}
		fmt.Fprintf(&lines, "| `%s` | %s |\n", class, strings.Join(names, ", "))
	}
	want := head + begin + "\n" + lines.String() + "\n" + end + tail
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(data), "go test ./cmd/pinfold/internal/shellshape -run Documented -update")
}

// Each entry names where it was taken from, and is read as it is meant.
func TestTable(t *testing.T) {
	kindsOf := map[string]bool{"path": true, "file": true, "write": true, "object": true, "package": true, "pytest": true, "--": true}
	for kind := range kinds() {
		kindsOf[kind] = true
	}
	heads := map[string]bool{}
	for _, s := range table {
		require.NotEmpty(t, s.source, s.head)
		require.NotEmpty(t, s.class, s.head)
		require.False(t, heads[s.head], s.head)
		heads[s.head] = true
		for _, kind := range strings.Fields(s.operands) {
			require.True(t, kindsOf[strings.TrimSuffix(kind, "*")], "%s: %s", s.head, kind)
		}
		for _, o := range strings.Fields(s.options) {
			o, raises, _ := strings.Cut(o, "!")
			require.Contains(t, []string{"", "dots", "names", "contents"}, raises, s.head)
			name, kind, valued := strings.Cut(o, "=")
			require.Equal(t, byte('-'), name[0], "%s: %s", s.head, o)
			require.True(t, !valued || kindsOf[kind], "%s: %s", s.head, o)
		}
	}
}
