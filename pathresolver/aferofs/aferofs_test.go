package aferofs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/pathresolver/aferofs"
)

func TestAfero(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "root")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "out"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(base, "secret"), []byte("s"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "x"), []byte("x"), 0o644))
	require.NoError(t, os.Symlink("../secret", filepath.Join(root, "leak")))
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"out"}})
	require.NoError(t, err)
	defer r.Close()
	guarded := aferofs.New(r)

	require.NoError(t, afero.WriteFile(guarded, "out/f", []byte("hello"), 0o644))
	got, err := afero.ReadFile(guarded, "out/f")
	require.NoError(t, err)
	require.Equal(t, "hello", string(got))
	require.NoError(t, guarded.MkdirAll("out/d/e", 0o755))
	require.NoError(t, guarded.Rename("out/f", "out/d/f"))
	var seen []string
	require.NoError(t, afero.Walk(guarded, ".", func(path string, _ os.FileInfo, err error) error {
		seen = append(seen, path)
		return err
	}))
	require.Contains(t, seen, "out/d/f")

	// The same through afero's own BasePathFs escapes, which is why the
	// boundary is not there.
	leaky := afero.NewBasePathFs(afero.NewOsFs(), root)
	_, err = afero.ReadFile(leaky, "leak")
	require.NoError(t, err)
	_, err = afero.ReadFile(guarded, "leak")
	require.ErrorIs(t, err, os.ErrPermission)
	require.NoError(t, afero.WriteFile(leaky, "x", []byte("y"), 0o644))
	require.ErrorIs(t, afero.WriteFile(guarded, "x", []byte("z"), 0o644), os.ErrPermission)
}
