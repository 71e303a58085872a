package pathresolver_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

func TestFS(t *testing.T) {
	_, root := scene(t, ".env = secret", "in => sub/x")
	modes(t, pathresolver.Config{Root: root, Hide: []string{"**/.env"}}, func(t *testing.T, r *pathresolver.Resolver) {
		require.NoError(t, fstest.TestFS(r.FS(), "ok.txt", "sub/deep/f.txt", "src/x"))
		_, err := fs.ReadFile(r.FS(), ".env")
		denied(t, err, pathresolver.RuleHidden)
		_, err = r.FS().Open("../outside/secret")
		require.ErrorIs(t, err, fs.ErrInvalid)
		list, err := fs.ReadDir(r.FS(), ".")
		require.NoError(t, err)
		for _, e := range list {
			require.NotEqual(t, ".env", e.Name())
		}
	})
	r, err := pathresolver.New(pathresolver.Config{Root: root})
	require.NoError(t, err)
	defer r.Close()
	_, err = fs.ReadFile(r.FS(), ".env")
	require.NoError(t, err, "without the rule it is readable")
}
