//go:build linux

package sandboxfs_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

func fds(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(entries)
}

func mounts(t *testing.T, beneath string) int {
	t.Helper()
	data, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	return strings.Count(string(data), beneath)
}

// A hundred views leave nothing behind.
func TestMountCycles(t *testing.T) {
	base := t.TempDir()
	root, mnt := filepath.Join(base, "root"), filepath.Join(base, "mnt")
	require.NoError(t, os.Mkdir(mnt, 0o755))
	plant(t, root, "src/x=1", "out/")
	much := strings.Repeat("much", 1<<18)
	cycle := func(arrangement string) {
		r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"out"}})
		require.NoError(t, err)
		v, err := sandboxfs.New(r, arrangements[arrangement])
		require.NoError(t, err)
		require.NoError(t, v.Mount(mnt))
		require.NoError(t, write(filepath.Join(mnt, "out/y"), much))
		_, err = os.ReadFile(filepath.Join(mnt, "src/x"))
		require.NoError(t, err)
		lazily, err := v.Unmount()
		require.NoError(t, err)
		require.False(t, lazily)
		v.Wait()
		require.NoError(t, v.Close())
		require.NoError(t, r.Close())
	}
	cycle("root")
	cycle("plain")
	runtime.GC()
	files, points, routines := fds(t), mounts(t, base), runtime.NumGoroutine()
	for range 50 {
		cycle("root")
		cycle("plain")
	}
	runtime.GC()
	require.LessOrEqual(t, fds(t), files)
	require.Equal(t, points, mounts(t, base))
	eventually(t, bound, func() bool { return runtime.NumGoroutine() <= routines+1 }, "goroutines")
}

// Unmounting a busy view succeeds, says so, and Close ends the connection for
// who still uses it.
func TestUnmountBusy(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/x=1", "src/x=1")
		busy, err := os.Open(f.in("out/x"))
		require.NoError(t, err)
		defer busy.Close()
		var st unix.Statfs_t
		if isRoot() { // others cannot end what is detached
			lazily, err := f.v.Unmount()
			require.NoError(t, err)
			require.True(t, lazily)
			require.Empty(t, names(t, f.mnt))
		}
		require.NoError(t, unix.Fstatfs(int(busy.Fd()), &st), "who has it open goes on")
		require.NoError(t, f.v.Close())
		require.ErrorIs(t, unix.Fstatfs(int(busy.Fd()), &st), syscall.ENOTCONN)
	})
}
