package skills

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// The directory of a token that is made is made with it, for this user alone;
// none beneath the directory that the token guards.
func TestTokenDirectoryIsMade(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	r, err := pathresolver.New(pathresolver.Config{Root: root})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })

	file := filepath.Join(outside, "config", "pinfold", "token")
	token, made, err := bearerToken(file, r)
	require.NoError(t, err)
	require.True(t, made)
	for _, dir := range []string{"config", "config/pinfold"} {
		info, err := os.Stat(filepath.Join(outside, dir))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), info.Mode().Perm(), dir)
	}
	again, made, err := bearerToken(file, r)
	require.NoError(t, err)
	require.False(t, made)
	require.Equal(t, token, again)

	require.NoError(t, os.Symlink(root, filepath.Join(outside, "link")))
	for _, file := range []string{filepath.Join(root, "config", "token"), filepath.Join(outside, "link", "config", "token")} {
		_, _, err = bearerToken(file, r)
		require.ErrorIs(t, err, errTokenInside)
		require.NoDirExists(t, filepath.Join(root, "config"))
	}
}
