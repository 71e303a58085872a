package sandboxfs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// A process that may unmount nothing has it done, and what is in use still ends with
// the view.
func TestUnmounter(t *testing.T) {
	if os.Args[0] == "sandboxfs-tests-in-user-namespace" { // where connections cannot be ended
		return
	}
	base := t.TempDir()
	root, mnt := filepath.Join(base, "root"), filepath.Join(base, "mnt")
	require.NoError(t, os.MkdirAll(root+"/out", 0o755))
	require.NoError(t, os.WriteFile(root+"/file", []byte("x"), 0o644))
	require.NoError(t, os.Mkdir(mnt, 0o755))
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"out"}})
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	var asked []string
	v, err := New(r, Options{Unmounter: func(path string, force bool) (bool, error) {
		require.False(t, force)
		asked = append(asked, path)
		if err := unix.Unmount(path, 0); err != unix.EBUSY {
			return false, err
		}
		return true, unix.Unmount(path, unix.MNT_DETACH)
	}})
	require.NoError(t, err)
	require.NoError(t, v.Mount(mnt))
	used, err := os.Open(mnt + "/file")
	require.NoError(t, err)
	defer used.Close()
	for _, m := range v.mounted {
		require.GreaterOrEqual(t, m.control, 0, "its control file is open from the start")
	}
	lazily, err := v.Unmount()
	require.NoError(t, err)
	require.True(t, lazily)
	require.Equal(t, []string{mnt + "/out", mnt}, asked)
	require.NoError(t, v.Close())
	var st unix.Statfs_t
	require.ErrorIs(t, unix.Fstatfs(int(used.Fd()), &st), unix.ENOTCONN)
}
