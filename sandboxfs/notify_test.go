//go:build linux

package sandboxfs_test

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// atOnce is how late a notification may be on a loaded machine: far less than
// the ten seconds that the kernel may remember a watched directory.
const atOnce = 2 * time.Second

// What the host changes in the read-only mount is seen at once.
func TestHostChangesAreSeen(t *testing.T) {
	f := mount(t, arrangements["root"], pathresolver.Config{WritePaths: []string{"out"}}, "src/x=old", "src/d/y=1", "src/l => x", "out/")
	require.Equal(t, "old", f.read(f.in("src/x")))
	require.False(t, exists(f.in("src/new")))
	require.Equal(t, []string{"d", "l", "x"}, names(t, f.in("src")))

	require.NoError(t, write(f.on("src/x"), "new"))
	eventually(t, atOnce, func() bool { return f.read(f.in("src/x")) == "new" }, "content, same size")
	require.NoError(t, write(f.on("src/x"), "longer than before"))
	eventually(t, atOnce, func() bool { return f.read(f.in("src/x")) == "longer than before" }, "content, new size")
	require.NoError(t, write(f.on("src/new"), "hello"))
	eventually(t, atOnce, func() bool { return exists(f.in("src/new")) }, "a name that was missing")
	require.Equal(t, []string{"d", "l", "new", "x"}, names(t, f.in("src")))
	require.NoError(t, os.Chmod(f.on("src/new"), 0o600))
	eventually(t, atOnce, func() bool { return modeOf(f.in("src/new")) == 0o600 }, "mode")
	require.NoError(t, os.Remove(f.on("src/new")))
	eventually(t, atOnce, func() bool { return !exists(f.in("src/new")) }, "removed")
	require.NoError(t, os.Rename(f.on("src/d"), f.on("src/e")))
	eventually(t, atOnce, func() bool { return exists(f.in("src/e/y")) && !exists(f.in("src/d/y")) }, "renamed directory")
	require.NoError(t, os.Remove(f.on("src/l")))
	require.NoError(t, os.Symlink("e", f.on("src/l")))
	eventually(t, atOnce, func() bool { got, _ := os.Readlink(f.in("src/l")); return got == "e" }, "link target")
	require.NoError(t, write(f.on("tmp"), "replaced"))
	require.NoError(t, os.Rename(f.on("tmp"), f.on("src/x")))
	eventually(t, atOnce, func() bool { got, _ := os.ReadFile(f.in("src/x")); return string(got) == "replaced" }, "replaced atomically")
	require.Positive(t, f.v.Stats().Notified)
}

// In a write mount they are seen within a second.
func TestHostChangesInWritePart(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/x=old")
		require.Equal(t, "old", f.read(f.in("out/x")))
		require.False(t, exists(f.in("out/new")))
		require.NoError(t, write(f.on("out/x"), "new and longer"))
		require.NoError(t, write(f.on("out/new"), "1"))
		eventually(t, bound, func() bool { return f.read(f.in("out/x")) == "new and longer" }, "content")
		eventually(t, bound, func() bool { return exists(f.in("out/new")) }, "a new name")
		require.NoError(t, os.Remove(f.on("out/new")))
		eventually(t, bound, func() bool { return !exists(f.in("out/new")) }, "removed")
	})
}

// More events than the system queues lose none of the changes.
func TestEventOverflow(t *testing.T) {
	f := mount(t, arrangements["root"], pathresolver.Config{}, "src/")
	const files = 200
	for i := range files {
		plant(t, f.root, fmt.Sprintf("src/%d=old", i))
	}
	for i := range files {
		require.Equal(t, "old", f.read(f.in(fmt.Sprintf("src/%d", i))))
	}
	storm(t, f.on("src"), 40000)
	for i := range files {
		require.NoError(t, write(f.on(fmt.Sprintf("src/%d", i)), "newer"))
	}
	for i := range files {
		eventually(t, 12*time.Second, func() bool { return f.read(f.in(fmt.Sprintf("src/%d", i))) == "newer" }, "after the storm")
	}
}

// storm makes and removes files as fast as it can.
func storm(t *testing.T, dir string, count int) {
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for i := range count / 2 {
				path := fmt.Sprintf("%s/storm-%d-%d", dir, w, i)
				fd, err := unix.Open(path, unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
				if err != nil {
					t.Error(err)
					return
				}
				unix.Close(fd)
				unix.Unlink(path)
			}
		})
	}
	wg.Wait()
}

func modeOf(path string) os.FileMode {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Mode().Perm()
}
