package pathresolver_test

import (
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// TestRestrict: what the rules allow may be refused for another reason, by
// every verb; what they refuse is not asked about, and reading is not.
func TestRestrict(t *testing.T) {
	_, root := scene(t, "out/mine/f = f", "out/theirs/f = f", "src/f = f")
	var on atomic.Bool
	var asked atomic.Int32
	cfg := pathresolver.Config{
		Root: root, WritePaths: []string{"out"},
		Restrict: func(_ access.Op, place string, _ fs.FileMode) string {
			asked.Add(1)
			if on.Load() && strings.HasPrefix(place, "out/theirs") {
				return "it is theirs"
			}
			return ""
		},
	}
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		on.Store(true)
		for what, do := range map[string]func() error{
			"write":       func() error { return r.WriteFile("out/theirs/f", nil, 0o644) },
			"make":        func() error { return r.WriteFile("out/theirs/new", nil, 0o644) },
			"mkdir":       func() error { return r.Mkdir("out/theirs/d", 0o755) },
			"symlink":     func() error { return r.Symlink("f", "out/theirs/l") },
			"remove":      func() error { return r.Remove("out/theirs/f") },
			"remove all":  func() error { return r.RemoveAll("out/theirs") },
			"chmod":       func() error { return r.Chmod("out/theirs/f", 0o600) },
			"link from":   func() error { return r.Link("out/theirs/f", "out/mine/alias") },
			"link to":     func() error { return r.Link("out/mine/f", "out/theirs/alias") },
			"rename from": func() error { return r.Rename("out/theirs/f", "out/mine/g", pathresolver.RenameReplace) },
			"rename to":   func() error { return r.Rename("out/mine/f", "out/theirs/f", pathresolver.RenameReplace) },
			"exchange":    func() error { return r.Rename("out/mine/f", "out/theirs/f", pathresolver.RenameExchange) },
		} {
			err := do()
			denied(t, err, pathresolver.RuleProtected)
			require.ErrorContains(t, err, "it is theirs", what)
		}
		text, err := r.ReadFile("out/theirs/f")
		require.NoError(t, err)
		require.Equal(t, "f", string(text))
		require.NoError(t, r.WriteFile("out/mine/f", []byte("f"), 0o644))
		require.False(t, r.Explain(access.OpWrite, "out/theirs/f").Allowed)

		before := asked.Load()
		denied(t, r.WriteFile("src/f", nil, 0o644), pathresolver.RuleNoWritePath)
		_, err = r.ReadFile("src/f")
		require.NoError(t, err)
		require.Equal(t, before, asked.Load())

		on.Store(false) // the control
		require.NoError(t, r.WriteFile("out/theirs/f", []byte("f"), 0o644))
		require.NoError(t, r.Mkdir("out/theirs/d", 0o755))
		require.NoError(t, r.Remove("out/theirs/d"))
		require.NoError(t, r.Chmod("out/theirs/f", 0o644))
	})
}

// TestRestrictKind: who is asked about a new name knows what it will be.
func TestRestrictKind(t *testing.T) {
	_, root := scene(t, "out/f = f")
	cfg := pathresolver.Config{
		Root: root, WritePaths: []string{"out"},
		Restrict: func(op access.Op, place string, kind fs.FileMode) string {
			if op == access.OpCreate && place == "out/new" && kind != fs.ModeDir {
				return "only directories"
			}
			return ""
		},
	}
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		denied(t, r.Symlink("f", "out/new"), pathresolver.RuleProtected)
		require.NoError(t, r.Mkdir("out/new", 0o755))
		require.NoError(t, r.Remove("out/new"))
	})
}
