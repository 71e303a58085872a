package sandboxfs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// The device number of a connection that has ended goes to the next one, which
// may be somebody else's: it is not that one which is aborted.
func TestAbortOnlyOurOwn(t *testing.T) {
	start := func() (*View, string) {
		base := t.TempDir()
		root, mnt := filepath.Join(base, "root"), filepath.Join(base, "mnt")
		require.NoError(t, os.Mkdir(root, 0o755))
		require.NoError(t, os.Mkdir(mnt, 0o755))
		r, err := pathresolver.New(pathresolver.Config{Root: root})
		require.NoError(t, err)
		v, err := New(r, Options{})
		require.NoError(t, err)
		t.Cleanup(func() {
			require.NoError(t, v.Close())
			require.NoError(t, r.Close())
		})
		require.NoError(t, v.Mount(mnt))
		return v, mnt
	}
	ended, _ := start()
	old := ended.mounted[0]
	_, err := ended.Unmount()
	require.NoError(t, err)
	other, mnt := start()
	old.dev = other.mounted[0].dev

	var st unix.Statfs_t
	err = old.abort()
	if os.Args[0] == "sandboxfs-tests-in-user-namespace" { // where fusectl is not to be had
		require.ErrorIs(t, err, unix.EPERM)
		return
	}
	require.NoError(t, err)
	require.NoError(t, unix.Statfs(mnt, &st), "another's goes on")
	require.NoError(t, other.mounted[0].abort())
	require.ErrorIs(t, unix.Statfs(mnt, &st), unix.ENOTCONN, "its own does not")
}
