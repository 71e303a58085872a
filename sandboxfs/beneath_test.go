//go:build linux

package sandboxfs_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// lateNode answers a link with how many there were before, as servers do for
// which each name is a file of its own (libfuse without inode numbers).
type lateNode struct{ *fs.LoopbackNode }

func (n *lateNode) WrapChild(_ context.Context, child fs.InodeEmbedder) fs.InodeEmbedder {
	return &lateNode{child.(*fs.LoopbackNode)}
}

func (n *lateNode) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	child, errno := n.LoopbackNode.Link(ctx, target, name, out)
	out.Nlink--
	return child, errno
}

// beneath is a tree whose root is a mount of another FUSE file system; its files
// lie in the directory that is returned.
func beneath(t *testing.T, attributes time.Duration, specs ...string) (*fixture, string) {
	t.Helper()
	f := planted(t)
	behind := filepath.Join(t.TempDir(), "behind")
	require.NoError(t, os.Mkdir(behind, 0o755))
	plant(t, behind, specs...)
	data := &fs.LoopbackRoot{Path: behind}
	data.RootNode = &lateNode{&fs.LoopbackNode{RootData: data}}
	short := time.Duration(0)
	server, err := fs.Mount(f.root, data.RootNode, &fs.Options{AttrTimeout: &attributes, EntryTimeout: &short})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Unmount()) })
	return f, behind
}

// What changes on the other side of a FUSE file system raises no event here: it
// is seen within a second nevertheless.
func TestChangesBehindFUSEAreSeen(t *testing.T) {
	f, behind := beneath(t, 0, "src/x=old")
	f.start(arrangements["root"], pathresolver.Config{})
	require.Equal(t, "old", f.read(f.in("src/x")))
	require.False(t, exists(f.in("src/new")))
	require.Equal(t, []string{"x"}, names(t, f.in("src")))
	require.NoError(t, write(filepath.Join(behind, "src/x"), "longer than before"))
	require.NoError(t, write(filepath.Join(behind, "src/new"), "1"))
	eventually(t, 5*time.Second, func() bool { return f.read(f.in("src/x")) == "longer than before" }, "content")
	eventually(t, 5*time.Second, func() bool { return exists(f.in("src/new")) }, "a new name")
	require.Equal(t, []string{"new", "x"}, names(t, f.in("src")))
	require.Zero(t, f.v.Stats().Watches)
}

// A link that was made in the view does not keep the file from being written,
// though the file system beneath is late to count it.
func TestLinkOnFUSE(t *testing.T) {
	f, _ := beneath(t, time.Second, "out/x=1")
	f.start(arrangements["root"], pathresolver.Config{WritePaths: []string{"out"}})
	require.NoError(t, os.Link(f.in("out/x"), f.in("out/y")))
	require.EqualValues(t, 2, nlink(t, f.in("out/x")))
	eventually(t, 5*time.Second, func() bool { return nlink(t, filepath.Join(f.root, "out/x")) == 2 }, "the file system beneath counts it")
	require.NoError(t, write(f.in("out/x"), "2"))
	require.NoError(t, os.Chmod(f.in("out/y"), 0o600))
	require.Equal(t, "2", f.read(f.in("out/y")))
}

func nlink(t *testing.T, path string) uint32 {
	t.Helper()
	var sx unix.Statx_t
	require.NoError(t, unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_NLINK, &sx))
	return sx.Nlink
}
