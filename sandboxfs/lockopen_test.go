//go:build linux

package sandboxfs_test

import (
	"context"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// shutFile can be opened, or not any more.
type shutFile struct {
	fs.MemRegularFile
	shut atomic.Bool
}

func (f *shutFile) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if f.shut.Load() {
		return nil, 0, unix.EACCES
	}
	return f.MemRegularFile.Open(ctx, flags)
}

// Who wants a lock of a file that cannot be opened for it, as an ordinary
// user's that is 0444, is told, also when ready to wait.
func TestLockOfFileThatOpensOnce(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := planted(t)
		db, disk := &shutFile{}, &fs.Inode{}
		db.Attr.Mode = 0o644
		server, err := fs.Mount(f.root, disk, &fs.Options{
			MountOptions: fuse.MountOptions{DirectMount: true},
			OnAdd: func(ctx context.Context) {
				out := disk.NewPersistentInode(ctx, &fs.Inode{}, fs.StableAttr{Mode: unix.S_IFDIR})
				disk.AddChild("out", out, false)
				out.AddChild("db", out.NewPersistentInode(ctx, db, fs.StableAttr{}), false)
			},
		})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, server.Unmount()) })
		f.start(o, pathresolver.Config{WritePaths: []string{"out"}})
		for name, lock := range map[string]func(fd int) error{
			"SETLK":    func(fd int) error { return unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, lockOf(unix.F_WRLCK, 0, 1)) },
			"SETLKW":   func(fd int) error { return unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLKW, lockOf(unix.F_WRLCK, 0, 1)) },
			"flock":    func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) },
			"flock, w": func(fd int) error { return unix.Flock(fd, unix.LOCK_EX) },
		} {
			file, err := os.OpenFile(f.in("out/db"), os.O_RDWR, 0)
			require.NoError(t, err)
			db.shut.Store(true)
			got := make(chan error, 1)
			go func() { got <- lock(int(file.Fd())) }()
			select {
			case err = <-got:
				require.ErrorIs(t, err, syscall.EACCES, name)
				db.shut.Store(false)
			case <-time.After(bound):
				db.shut.Store(false)
				<-got
				require.Fail(t, "waits for ever", name)
			}
			require.NoError(t, lock(int(file.Fd())), name)
			require.NoError(t, file.Close())
		}
	})
}
