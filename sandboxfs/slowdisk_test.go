//go:build linux

package sandboxfs_test

import (
	"context"
	"os"
	"strings"
	"sync"
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

// slowDir is the root of a file system whose names "slow..." are found only
// when released.
type slowDir struct {
	fs.Inode
	asked    chan string
	released chan struct{}
	once     sync.Once
}

func (d *slowDir) release() { d.once.Do(func() { close(d.released) }) }

func (d *slowDir) Lookup(ctx context.Context, name string, _ *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if strings.HasPrefix(name, "slow") {
		select {
		case d.asked <- name:
			<-d.released
		case <-d.released: // asked again
		}
	}
	return d.NewInode(ctx, &fs.MemRegularFile{}, fs.StableAttr{Mode: unix.S_IFREG}), 0
}

// onSlowDisk mounts a view of a tree on a slowDir.
func onSlowDisk(t *testing.T, o sandboxfs.Options) (*fixture, *slowDir) {
	f := planted(t)
	disk := &slowDir{asked: make(chan string), released: make(chan struct{})}
	server, err := fs.Mount(f.root, disk, &fs.Options{MountOptions: fuse.MountOptions{DirectMount: true}})
	require.NoError(t, err)
	// after the view's end, which comes first only among cleanups
	t.Cleanup(func() { require.NoError(t, server.Unmount()) })
	f.start(o, pathresolver.Config{})
	t.Cleanup(disk.release) // before all that waits for it
	return f, disk
}

// A request for what the disk has at once is not kept waiting by requests for what
// it has to look for.
func TestSlowDisk(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f, disk := onSlowDisk(t, o)
		var waiting sync.WaitGroup
		stat := func(name string) error {
			var st unix.Stat_t
			return unix.Lstat(f.in(name), &st)
		}
		for _, name := range []string{"slow1", "slow2", "slow3"} {
			waiting.Go(func() { require.NoError(t, stat(name)) })
			select {
			case asked := <-disk.asked:
				require.Equal(t, name, asked)
			case <-time.After(bound):
				require.Fail(t, "the next one does not get as far as the disk")
			}
		}
		done := make(chan error)
		go func() { done <- stat("fast") }()
		select {
		case err := <-done:
			require.NoError(t, err)
		case <-time.After(bound):
			disk.release()
			<-done
			require.Fail(t, "kept waiting")
		}
		disk.release()
		waiting.Wait()
	})
}

// However many wait for a disk, the server holds a bounded number of threads,
// and answers everybody in the end.
func TestManyWaitForDisk(t *testing.T) {
	const clients, most = 1000, 256 + 1 // and one that leads
	f, disk := onSlowDisk(t, arrangements["plain"])
	threads := func() int {
		tasks, err := os.ReadDir("/proc/self/task")
		require.NoError(t, err)
		return len(tasks)
	}
	before := threads()
	child := inChild("stat1000", f.in("slow"))
	child.Stderr = os.Stderr
	require.NoError(t, child.Start())
	for range most {
		select {
		case <-disk.asked:
		case <-time.After(bound):
			require.Fail(t, "fewer are answered at a time than may be")
		}
	}
	eventually(t, bound, func() bool { return waitingForServer(child.Process.Pid) >= clients }, "all have asked")
	select {
	case <-disk.asked:
		require.Fail(t, "more are answered at a time than may be")
	default:
	}
	require.LessOrEqual(t, threads(), before+most+32)
	disk.release()
	require.NoError(t, child.Wait())
}

// A process that waits for a lock when the view goes gets an error, and keeps
// nothing alive.
func TestUnmountLockWaiter(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/db=1")
		holds, err := os.OpenFile(f.on("out/db"), os.O_RDWR, 0)
		require.NoError(t, err)
		defer holds.Close()
		require.NoError(t, unix.FcntlFlock(holds.Fd(), unix.F_OFD_SETLK, lockOf(unix.F_WRLCK, 0, 0)))
		wants, err := os.OpenFile(f.in("out/db"), os.O_RDWR, 0)
		require.NoError(t, err)
		defer wants.Close()
		before := f.v.Stats().Requests
		got := make(chan error, 1)
		go func() { got <- unix.FcntlFlock(wants.Fd(), unix.F_OFD_SETLKW, lockOf(unix.F_WRLCK, 0, 0)) }()
		eventually(t, bound, func() bool {
			var st unix.Statx_t // each is a request
			_ = unix.Statx(unix.AT_FDCWD, f.in("out/db"), unix.AT_STATX_FORCE_SYNC, unix.STATX_SIZE, &st)
			return f.v.Stats().Requests > before+2
		}, "others are answered meanwhile")
		_, err = f.v.Unmount()
		require.NoError(t, err)
		if !isRoot() { // cannot end a connection that is in use
			require.NoError(t, holds.Close())
			require.NoError(t, <-got, "served as long as it is in use")
			require.NoError(t, wants.Close())
			require.NoError(t, f.v.Close())
			return
		}
		require.NoError(t, f.v.Close())
		require.Error(t, <-got)
	})
}
