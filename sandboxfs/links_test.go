//go:build linux

package sandboxfs_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	gofuse "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// plantAlias makes out/h, a second name of src/p, which is read-only.
func plantAlias(t *testing.T, f *fixture) {
	t.Helper()
	require.NoError(t, os.Link(f.on("src/p"), f.on("out/h")))
}

// A file that has another name elsewhere is not changed in place.
func TestHardLinkElsewhere(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "src/p=protected", "out/own=mine")
		plantAlias(t, f)
		for _, c := range changesOfFile {
			switch c.name {
			case "link", "rename", "exchange", "unlink":
				continue // change a name, not the file
			}
			require.ErrorIs(t, c.do(f.in("out/h")), syscall.EACCES, c.name)
			require.NoError(t, c.do(f.in("out/own")), "a file with one name: %s", c.name)
		}
		require.Equal(t, "protected", f.read(f.on("src/p")))
	})
}

// Nor is it once the name beneath the write path is gone.
func TestHardLinkElsewhereOfRemoved(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		for _, remove := range []func(path string) error{
			os.Remove,
			func(path string) error { return os.Rename(path+".other", path) },
		} {
			f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "src/p=protected", "out/h.other=1", "out/own=mine", "out/own.other=1")
			plantAlias(t, f)
			try := func(place string, allowed bool) {
				file, err := os.Open(f.in(place))
				require.NoError(t, err)
				defer file.Close()
				require.NoError(t, remove(f.in(place)))
				proc := "/proc/self/fd/" + itoa(int(file.Fd()))
				for _, change := range []func() error{
					func() error { return closing(os.OpenFile(proc, os.O_RDWR, 0)) },
					func() error { return os.Truncate(proc, 0) },
					func() error { return file.Chmod(0o600) },
					func() error { return unix.Setxattr(proc, "user.k", []byte("v"), 0) },
				} {
					if allowed {
						require.NoError(t, change())
					} else {
						require.ErrorIs(t, change(), syscall.EACCES)
					}
				}
				require.Error(t, unix.Linkat(unix.AT_FDCWD, proc, unix.AT_FDCWD, f.in("out/again"), unix.AT_SYMLINK_FOLLOW))
			}
			try("out/h", false)
			try("out/own", true)
			require.Equal(t, "protected", f.read(f.on("src/p")))
			require.Equal(t, os.FileMode(0o644), modeOf(f.on("src/p")))
		}
	})
}

// With links broken first, writing makes a file of its own.
func TestHardLinkBroken(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		cfg := pathresolver.Config{WritePaths: []string{"out"}, HardLinks: pathresolver.HardLinksBreak}
		f := mount(t, o, cfg, "src/p=protected", "out/")
		plantAlias(t, f)
		require.NoError(t, write(f.in("out/h"), "changed"))
		require.Equal(t, "changed", f.read(f.in("out/h")))
		require.Equal(t, "protected", f.read(f.on("src/p")))
		require.Equal(t, "protected", f.read(f.in("src/p")))
	})
}

// Links made through the view are one file, with one inode number, and may be
// written by either name.
func TestHardLinkOwn(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/a=one")
		require.NoError(t, os.Link(f.in("out/a"), f.in("out/b")))
		require.NoError(t, write(f.in("out/b"), "two"))
		require.Equal(t, "two", f.read(f.in("out/a")))
		a, err := os.Stat(f.in("out/a"))
		require.NoError(t, err)
		b, err := os.Stat(f.in("out/b"))
		require.NoError(t, err)
		require.True(t, os.SameFile(a, b))
		require.EqualValues(t, 2, a.Sys().(*syscall.Stat_t).Nlink)
		require.NoError(t, os.Remove(f.in("out/a")))
		require.Equal(t, "two", f.read(f.in("out/b")))
		require.NoError(t, write(f.in("out/b"), "three"))
	})
}

// A link that went does not vouch for one that the host makes later.
func TestHardLinkCountedAgain(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/a=one", "src/")
		require.NoError(t, os.Link(f.in("out/a"), f.in("out/b")))
		require.NoError(t, write(f.in("out/a"), "two"), "both names are the view's")
		require.NoError(t, os.Remove(f.in("out/b")))
		require.NoError(t, os.Link(f.on("out/a"), f.on("src/alias")))
		require.ErrorIs(t, write(f.in("out/a"), "three"), syscall.EACCES)
		require.Equal(t, "two", f.read(f.on("src/alias")))
	})
}

// withoutFlags is a file system whose renames know no flags, as NFS.
type withoutFlags struct{ gofuse.LoopbackNode }

func (n *withoutFlags) Rename(ctx context.Context, name string, parent gofuse.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	if flags != 0 {
		return syscall.EINVAL
	}
	return n.LoopbackNode.Rename(ctx, name, parent, newName, 0)
}

func (n *withoutFlags) WrapChild(context.Context, gofuse.InodeEmbedder) gofuse.InodeEmbedder {
	return &withoutFlags{gofuse.LoopbackNode{RootData: n.RootData}}
}

// A rename to a new name is done without replacing anything first, and as any other
// where the file system cannot do that.
func TestRenameWithoutFlags(t *testing.T) {
	f := planted(t, "disk/out/a=1", "disk/out/b=2")
	disk := f.on("disk")
	root := &gofuse.LoopbackRoot{Path: disk}
	root.RootNode = &withoutFlags{gofuse.LoopbackNode{RootData: root}}
	f.root = t.TempDir()
	server, err := gofuse.Mount(f.root, root.RootNode, &gofuse.Options{MountOptions: fuse.MountOptions{DirectMountStrict: true}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Unmount()) })
	require.ErrorIs(t, unix.Renameat2(unix.AT_FDCWD, f.on("out/a"), unix.AT_FDCWD, f.on("out/c"), unix.RENAME_NOREPLACE), unix.EINVAL)

	f.start(sandboxfs.Options{}, pathresolver.Config{WritePaths: []string{"out"}})
	require.NoError(t, os.Rename(f.in("out/a"), f.in("out/c")), "to a new name")
	require.NoError(t, os.Rename(f.in("out/c"), f.in("out/b")), "over a file")
	require.Equal(t, "1", f.read(filepath.Join(disk, "out/b")))
	require.ErrorIs(t, os.Rename(f.in("out/c"), f.in("out/d")), fs.ErrNotExist)
}
