package pathresolver_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// tree makes a directory from one-line specs: "dir/", "file = text",
// "link => target", "hard == file".
func tree(t *testing.T, dir string, specs ...string) {
	t.Helper()
	for _, s := range specs {
		if name, target, ok := strings.Cut(s, " => "); ok {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
			require.NoError(t, os.Symlink(target, filepath.Join(dir, name)))
		} else if name, old, ok := strings.Cut(s, " == "); ok {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
			require.NoError(t, os.Link(filepath.Join(dir, old), filepath.Join(dir, name)))
		} else if name, text, ok := strings.Cut(s, " = "); ok {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		} else {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, s), 0o755))
		}
	}
}

// scene is the layout of security.md: base/root is the sandbox.
func scene(t *testing.T, specs ...string) (base, root string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	tree(t, base, "root/ok.txt = ok", "root/x = x", "root/sub/x = subx", "root/sub/deep/f.txt = deep", "root/a/",
		"root/src/x = srcx", "outside/secret = SECRET", "outside/dir/secret = SECRET", "outside/victim = victim",
		"root-evil/secret = SECRET")
	root = filepath.Join(base, "root")
	tree(t, root, specs...)
	return base, root
}

// modes runs a test with openat2 and with the walker: the verdicts are one.
func modes(t *testing.T, cfg pathresolver.Config, test func(t *testing.T, r *pathresolver.Resolver)) {
	t.Helper()
	for _, walker := range []bool{false, true} {
		cfg := cfg
		cfg.ForceWalker = walker
		before := openFDs(t)
		r, err := pathresolver.New(cfg)
		require.NoError(t, err)
		t.Run(r.Mode(), func(t *testing.T) { test(t, r) })
		require.NoError(t, r.Close())
		require.Equal(t, before, openFDs(t), "no descriptor stays open")
	}
}

func denied(t *testing.T, err error, rule access.Code) *pathresolver.DeniedError {
	t.Helper()
	var d *pathresolver.DeniedError
	require.True(t, errors.As(err, &d), "want a refusal by %s, got %v", rule, err)
	require.Equal(t, rule, d.Rule, d.Error())
	require.ErrorIs(t, err, fs.ErrPermission)
	return d
}
