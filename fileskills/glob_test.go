package fileskills

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGlob(t *testing.T) {
	w := newWorld(t)
	for _, f := range []string{"a.go", "src/b.go", "src/deep/c.go", "src/deep/c_test.go", "src/d.ts", ".github/ci.yml", "node_modules/x.go", ".git/HEAD"} {
		w.plant(f, f)
	}
	w.write(".gitignore", "node_modules\n*.ts\n")
	require.NoError(t, os.Symlink("a.go", w.path("link.go")))
	for _, c := range []struct {
		in   args
		want string
	}{
		{args{"pattern": "**/*.go"}, "a.go\nlink.go\nsrc/b.go\nsrc/deep/c.go\nsrc/deep/c_test.go\n(1 ignored directory not shown; include_ignored=true)"},
		{args{"pattern": "*.go"}, "a.go\nlink.go"},
		{args{"pattern": "src/**/*.go", "exclude": []string{"*_test.go"}}, "src/b.go\nsrc/deep/c.go"},
		{args{"pattern": "**/*.go", "path": "src", "exclude": []string{"deep"}}, "src/b.go"},
		{args{"pattern": "{src/deep,.github}/*"}, ".github/ci.yml\nsrc/deep/c.go\nsrc/deep/c_test.go"},
		{args{"pattern": "*", "path": "src"}, "src/b.go\n(1 ignored file not shown; include_ignored=true)"},
		{args{"pattern": "*", "kind": "directory"}, ".github/\nout/\nsrc/\n(1 ignored directory not shown; include_ignored=true)"},
		{args{"pattern": "src/*", "kind": "any", "include_ignored": true}, "src/b.go\nsrc/d.ts\nsrc/deep/"},
		{args{"pattern": "**", "max_results": 2}, ".github/ci.yml\n.gitignore\n[2 of 8 shown; narrow the pattern or raise max_results]\n(1 ignored file, 1 ignored directory not shown; include_ignored=true)"},
		{args{"pattern": "c.go"}, "0 matches for c.go in .\nc.go looks in the directory itself; **/c.go looks at any depth."},
		{args{"pattern": "./src/deep/../x"}, ""},
	} {
		if c.want == "" {
			w.refused(CodeInvalidArgument, "glob", c.in)
			continue
		}
		require.Equal(t, c.want, w.ok("glob", c.in).Text, "%v", c.in)
	}
	w.refused(CodePathOutsideRoot, "glob", args{"pattern": "../**"})
	w.refused(CodePathOutsideRoot, "glob", args{"pattern": "/etc/*"})
	w.refused(CodePathOutsideRoot, "glob", args{"pattern": "*", "exclude": []string{"/etc/*"}})
	e := w.refused(CodeInvalidArgument, "glob", args{"pattern": w.root + "/src/*"})
	require.Contains(t, e.Hint, "path")
	w.refused(CodeInvalidArgument, "glob", args{"pattern": "["})
	w.refused(CodeNotDirectory, "glob", args{"pattern": "*", "path": "a.go"})
	w.refused(CodeInvalidArgument, "glob", args{"pattern": "*", "kind": "socket"})
}

// What is shown of a search is bounded, what it counts is not.
func TestGlobBounded(t *testing.T) {
	w := newWorld(t)
	for i := range 3000 {
		w.plant(fmt.Sprintf("d%02d/%0100d", i%10, i), "")
	}
	res := w.ok("glob", args{"pattern": "d*/*", "max_results": 10000})
	require.Less(t, len(res.Text), maxText+1000)
	require.Equal(t, 3000, *res.Meta.Total)
	require.True(t, res.Meta.Truncated)
}
