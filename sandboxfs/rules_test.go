//go:build linux

package sandboxfs_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// change is one way to change something at a path.
type change struct {
	name string
	do   func(path string) error
}

var changesOfFile = []change{
	{"open for writing", func(p string) error { return closing(os.OpenFile(p, os.O_WRONLY, 0)) }},
	{"open with O_TRUNC", func(p string) error { return closing(os.OpenFile(p, os.O_RDONLY|os.O_TRUNC, 0)) }},
	{"append", func(p string) error { return closing(os.OpenFile(p, os.O_WRONLY|os.O_APPEND, 0)) }},
	{"truncate", func(p string) error { return os.Truncate(p, 1) }},
	{"chmod", func(p string) error { return os.Chmod(p, 0o600) }},
	{"chown", func(p string) error { return os.Lchown(p, 0, 0) }},
	{"utimes", func(p string) error { return unix.UtimesNano(p, make([]unix.Timespec, 2)) }},
	{"setxattr", func(p string) error { return unix.Setxattr(p, "user.k", []byte("v"), 0) }},
	{"link", func(p string) error { return os.Link(p, p+".link") }},
	{"rename", func(p string) error { return os.Rename(p, p+".new") }},
	{"exchange", func(p string) error {
		return unix.Renameat2(unix.AT_FDCWD, p, unix.AT_FDCWD, p+".other", unix.RENAME_EXCHANGE)
	}},
	{"unlink", os.Remove},
}

var changesOfDir = []change{
	{"create", func(p string) error { return closing(os.Create(p + "/new")) }},
	{"mkdir", func(p string) error { return os.Mkdir(p+"/newdir", 0o755) }},
	{"symlink", func(p string) error { return os.Symlink("x", p+"/newlink") }},
	{"mkfifo", func(p string) error { return unix.Mkfifo(p+"/newfifo", 0o644) }},
	{"socket", func(p string) error { return unix.Mknod(p+"/newsock", unix.S_IFSOCK|0o644, 0) }},
	{"tmpfile", func(p string) error { return closing(os.OpenFile(p, unix.O_TMPFILE|os.O_WRONLY, 0o644)) }},
	{"chmod", func(p string) error { return os.Chmod(p, 0o755) }},
	{"rmdir", func(p string) error { return os.Remove(p + "/empty") }},
}

func closing(f *os.File, err error) error {
	if err == nil {
		err = f.Close()
	}
	return err
}

func plantChangeable(t *testing.T, dir string) {
	plant(t, dir, "file=secret", "file.other=other", "empty/")
}

// Every change outside the write paths is EROFS, the same at a protected
// place, and the same succeeds beneath the write path and on the host.
func TestRefusedChanges(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}, Protect: []string{"out/keep"}},
			"src/", "out/keep/", "out/work/")
		for _, where := range []struct {
			place   string
			allowed bool
		}{{"src", false}, {"out/keep", false}, {"out/work", true}} {
			try := func(dir string, c change, suffix string) {
				t.Run(where.place+"/"+c.name, func(t *testing.T) {
					place := where.place + "/" + dir
					plantChangeable(t, f.on(place))
					err := c.do(f.in(place) + suffix)
					if where.allowed {
						require.NoError(t, err)
						return
					}
					require.ErrorIs(t, err, syscall.EROFS)
					require.Equal(t, "secret", f.read(f.on(place+"/file")))
				})
			}
			for i, c := range changesOfFile {
				try(fmt.Sprintf("f%d", i), c, "/file")
			}
			for i, c := range changesOfDir {
				try(fmt.Sprintf("d%d", i), c, "")
			}
		}
		for _, c := range changesOfFile {
			dir := t.TempDir()
			plantChangeable(t, dir)
			require.NoError(t, c.do(dir+"/file"), "unguarded: %s", c.name)
		}
		for _, c := range changesOfDir {
			dir := t.TempDir()
			plantChangeable(t, dir)
			require.NoError(t, c.do(dir), "unguarded: %s", c.name)
		}
	})
}

// A write path itself stays: not renamed, not removed.
func TestWritePathStays(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"a/out"}}, "a/out/")
		require.Error(t, os.Remove(f.in("a/out")))
		require.Error(t, os.Rename(f.in("a/out"), f.in("a/other")))
		require.DirExists(t, f.on("a/out"))
		require.NoError(t, os.Rename(f.on("a/out"), f.on("a/other")), "the same on the host")
	})
}

// Names cross from one mount to another by no operation.
func TestNoWayAcross(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "src/x=read only", "out/y=mine", "out/d/")
		crossing := []error{syscall.EXDEV, syscall.EROFS}
		refused := func(err error) {
			t.Helper()
			require.Error(t, err)
			errno := err.(*os.LinkError).Err
			require.Contains(t, crossing, errno)
		}
		refused(os.Rename(f.in("src/x"), f.in("out/x")))
		refused(os.Rename(f.in("out/y"), f.in("src/y")))
		refused(os.Link(f.in("src/x"), f.in("out/x")))
		refused(&os.LinkError{Err: unix.Renameat2(unix.AT_FDCWD, f.in("src/x"), unix.AT_FDCWD, f.in("out/y"), unix.RENAME_EXCHANGE)})
		require.NoError(t, os.Rename(f.in("out/y"), f.in("out/d/y")), "the same within the write path")
		require.NoError(t, os.Rename(f.on("src/x"), f.on("out/x")), "the same on the host")
	})
}

// Devices are not made, and RENAME_WHITEOUT, which makes one, is refused.
func TestNoDevices(t *testing.T) {
	f := mount(t, arrangements["root"], pathresolver.Config{WritePaths: []string{"out"}}, "out/x=1")
	require.ErrorIs(t, unix.Mknod(f.in("out/null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))), syscall.EPERM)
	err := unix.Renameat2(unix.AT_FDCWD, f.in("out/x"), unix.AT_FDCWD, f.in("out/y"), unix.RENAME_WHITEOUT)
	require.ErrorIs(t, err, syscall.EINVAL)
	if !isRoot() {
		return // no device on the host either
	}
	require.NoError(t, unix.Mknod(f.on("out/null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))), "on the host")
	eventually(t, 2e9, func() bool {
		err := closing(os.Open(f.in("out/null")))
		return err != nil && !os.IsNotExist(err)
	}, "a device of the host does not open")
}

// Nothing vanishes under the name that go-fuse keeps for itself.
func TestReservedName(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"."}}, "x=1", "d/")
		require.Error(t, os.Rename(f.in("x"), f.in(".go-fuse-epoll-hack")))
		require.Error(t, os.Link(f.in("x"), f.in(".go-fuse-epoll-hack")))
		require.Error(t, write(f.in(".go-fuse-epoll-hack"), "x"))
		require.Equal(t, "1", f.read(f.in("x")))
		require.NoError(t, os.Rename(f.in("x"), f.in("d/.go-fuse-epoll-hack")), "another place")
		require.Equal(t, "1", f.read(f.in("d/.go-fuse-epoll-hack")))
	})
}

// A descriptor for reading stays one.
func TestReadOnlyStaysReadOnly(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}, Protect: []string{"out/keep"}},
			"src/x=read only", "out/keep=kept", "out/y=mine")
		for _, place := range []string{"src/x", "out/keep"} {
			file, err := os.Open(f.in(place))
			require.NoError(t, err)
			defer file.Close()
			path, err := unix.Open(f.in(place), unix.O_PATH, 0)
			require.NoError(t, err)
			defer unix.Close(path)
			for _, fd := range []int{int(file.Fd()), path} {
				proc := "/proc/self/fd/" + itoa(fd)
				require.ErrorIs(t, closing(os.OpenFile(proc, os.O_RDWR, 0)), syscall.EROFS)
				require.ErrorIs(t, os.Truncate(proc, 0), syscall.EROFS)
				require.ErrorIs(t, os.Chmod(proc, 0o777), syscall.EROFS)
				require.Error(t, unix.Linkat(unix.AT_FDCWD, proc, unix.AT_FDCWD, f.in("out/stolen"), unix.AT_SYMLINK_FOLLOW))
			}
			require.Error(t, file.Chmod(0o777))
			_, err = unix.Mmap(int(file.Fd()), 0, 4, unix.PROT_WRITE, unix.MAP_SHARED)
			require.ErrorIs(t, err, syscall.EACCES)
		}
		file, err := os.Open(f.in("out/y"))
		require.NoError(t, err)
		defer file.Close()
		require.NoError(t, closing(os.OpenFile("/proc/self/fd/"+itoa(int(file.Fd())), os.O_RDWR, 0)), "where writing is allowed")
	})
}
