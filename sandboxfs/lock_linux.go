package sandboxfs

import (
	"context"
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

// GetLk is F_GETLK.
func (c *connection) GetLk(_ <-chan struct{}, in *fuse.LkIn, out *fuse.LkOut) fuse.Status {
	h, err := c.opens.get(in.Fh)
	if err != nil {
		return status(err)
	}
	lk := flockOf(in)
	if err := c.opens.locks.get(h, in.Owner, &lk); err != nil {
		return status(err)
	}
	out.Lk = in.Lk
	out.Lk.Typ = uint32(lk.Type)
	if lk.Type != unix.F_UNLCK {
		out.Lk.Start, out.Lk.End = uint64(lk.Start), lockEnd(&lk)
	}
	out.Lk.Pid = 0 // not a process of the caller's that could be named
	return fuse.OK
}

// SetLk is F_SETLK and flock(2) with LOCK_NB.
func (c *connection) SetLk(_ <-chan struct{}, in *fuse.LkIn) fuse.Status {
	return status(c.tryLock(in))
}

// lockPoll bounds how late a lock that the host gave back is noticed. Locks
// given back through the view are noticed at once.
const lockPoll = 50 * time.Millisecond

// LockFile is F_SETLKW and flock(2), which wait. A signal ends the wait, and so
// does the end of the connection.
func (c *connection) LockFile(in *fuse.LkIn) fuseconn.Reply {
	if err := c.tryLock(in); err != unix.EAGAIN {
		return fuseconn.Reply{Status: status(err)}
	}
	again := *in
	return fuseconn.Reply{Later: func(ctx context.Context) fuseconn.Reply {
		return fuseconn.Reply{Status: c.waitLock(ctx, &again)}
	}}
}

func (c *connection) waitLock(ctx context.Context, in *fuse.LkIn) fuse.Status {
	pause := time.Millisecond
	for {
		freed := c.opens.locks.waiting()
		if err := c.tryLock(in); err != unix.EAGAIN {
			return status(err)
		}
		retry := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			retry.Stop()
			return fuse.EINTR
		case <-freed:
			retry.Stop()
		case <-retry.C:
			pause = min(2*pause, lockPoll)
		}
	}
}

func (c *connection) tryLock(in *fuse.LkIn) error {
	h, err := c.opens.get(in.Fh)
	if err != nil {
		return err
	}
	if in.LkFlags&fuse.LK_FLOCK == 0 {
		lk := flockOf(in)
		return c.opens.locks.set(h, in.Owner, &lk)
	}
	return c.opens.locks.flock(h, in.Lk.Typ)
}

// Flush is close(2) of one of the descriptors of an open file.
func (c *connection) Flush(_ <-chan struct{}, in *fuse.FlushIn) fuse.Status {
	if c.ReadOnly {
		return fuse.ENOSYS // no handles, no locks of ours: the kernel asks once
	}
	h, err := c.opens.get(in.Fh)
	if err != nil {
		return status(err)
	}
	c.opens.locks.flushed(h.node, in.LockOwner)
	return fuse.OK
}

func flockOf(in *fuse.LkIn) unix.Flock_t {
	lk := unix.Flock_t{Type: int16(in.Lk.Typ), Start: int64(in.Lk.Start)}
	if in.Lk.End < 1<<63-1 {
		lk.Len = int64(in.Lk.End - in.Lk.Start + 1)
	}
	return lk
}

func lockEnd(lk *unix.Flock_t) uint64 {
	if lk.Len == 0 {
		return 1<<63 - 1
	}
	return uint64(lk.Start + lk.Len - 1)
}

// Locks of write mounts are taken on the backing files, so that they hold
// against the host too. flock(2) locks lie on a descriptor that belongs to the
// handle; not on the one that it reads from, which the kernel may hold open
// longer for passthrough. The others belong to an owner, a process or an open file: each owner has a
// descriptor of its own per file, with open file description locks on it
// (F_OFD_SETLK, fcntl_locking(2)); closing it drops what the owner held.

// lockOwner is a holder of POSIX locks of a file.
type lockOwner struct {
	node  *node
	owner uint64
}

// ownerLocks is the descriptor that carries the locks of one owner.
type ownerLocks struct {
	fd int
	by map[uint64]bool // the handles that they were taken through
}

type lockTable struct {
	mu     sync.Mutex
	owners map[lockOwner]*ownerLocks
	flocks map[uint64]int // by handle
	freed  chan struct{}  // closed, and made anew, when a lock was given back
}

func (t *lockTable) init() {
	t.owners, t.flocks, t.freed = map[lockOwner]*ownerLocks{}, map[uint64]int{}, make(chan struct{})
}

// wake has all that wait for a lock try again. The lock is held.
func (t *lockTable) wake() {
	close(t.freed)
	t.freed = make(chan struct{})
}

// waiting returns a channel that is closed when a lock was given back.
func (t *lockTable) waiting() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.freed
}

// set takes or gives back a lock without waiting.
func (t *lockTable) set(h *handle, owner uint64, lk *unix.Flock_t) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := lockOwner{h.node, owner}
	held := t.owners[key]
	if held == nil && lk.Type == unix.F_UNLCK {
		return nil
	}
	if held == nil {
		fd, err := reopenForLocks(h)
		if err != nil {
			return err
		}
		held = &ownerLocks{fd: fd, by: map[uint64]bool{}}
	}
	err := unix.FcntlFlock(uintptr(held.fd), unix.F_OFD_SETLK, lk)
	switch {
	case err != nil && t.owners[key] == nil:
		closeFD(held.fd)
	case err == nil && lk.Type == unix.F_UNLCK && lk.Start == 0 && lk.Len == 0:
		t.dropOwner(key, held)
	case err == nil:
		held.by[h.id] = true
		t.owners[key] = held
		if lk.Type == unix.F_UNLCK {
			t.wake()
		}
	}
	return err
}

// reopenForLocks opens the file of h once more. A write lock needs a descriptor that
// may write; the kernel has checked that the caller's may. It is opened with all
// rights of the server, in a goroutine that is locked to no thread, since a file may
// have been made with a mode that lets nobody open it again. The caller gains nothing
// by that: opening h was checked, and this descriptor carries locks only.
func reopenForLocks(h *handle) (fd int, err error) {
	const flags = unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		if !h.writable {
			fd, err = unix.Open(procPath(h.fd), flags|unix.O_RDONLY, 0)
			return
		}
		fd, err = unix.Open(procPath(h.fd), flags|unix.O_RDWR, 0)
		if err == unix.EACCES { // a file that may be written but not read
			fd, err = unix.Open(procPath(h.fd), flags|unix.O_WRONLY, 0)
		}
	}()
	<-opened
	return fd, err
}

// get asks what is in the way of a lock.
func (t *lockTable) get(h *handle, owner uint64, lk *unix.Flock_t) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	fd := h.fd
	if held := t.owners[lockOwner{h.node, owner}]; held != nil {
		fd = held.fd // own locks are not in the way
	}
	return unix.FcntlFlock(uintptr(fd), unix.F_OFD_GETLK, lk)
}

// flushed is close(2) of some descriptor of the file by this owner: all of
// its locks on the file go, as POSIX wants it.
func (t *lockTable) flushed(n *node, owner uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := lockOwner{n, owner}
	if held := t.owners[key]; held != nil {
		t.dropOwner(key, held)
	}
}

// released is the end of a handle: locks that were taken through no other go.
func (t *lockTable) released(fh uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, held := range t.owners {
		delete(held.by, fh)
		if len(held.by) == 0 {
			t.dropOwner(key, held)
		}
	}
	if fd, ok := t.flocks[fh]; ok {
		closeFD(fd)
		delete(t.flocks, fh)
		t.wake()
	}
}

// flock is flock(2) without waiting.
func (t *lockTable) flock(h *handle, typ uint32) error {
	how := map[uint32]int{unix.F_RDLCK: unix.LOCK_SH, unix.F_WRLCK: unix.LOCK_EX, unix.F_UNLCK: unix.LOCK_UN}[typ]
	if how == 0 {
		return unix.EINVAL
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	fd, ok := t.flocks[h.id]
	if !ok {
		var err error
		if fd, err = reopenForLocks(h); err != nil {
			return err
		}
		t.flocks[h.id] = fd
	}
	err := unix.Flock(fd, how|unix.LOCK_NB)
	if err == nil && how != unix.LOCK_EX {
		t.wake() // given back, or made weaker
	}
	return err
}

func (t *lockTable) dropOwner(key lockOwner, held *ownerLocks) {
	closeFD(held.fd)
	delete(t.owners, key)
	t.wake()
}

func (t *lockTable) closeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, held := range t.owners {
		t.dropOwner(key, held)
	}
	for fh, fd := range t.flocks {
		closeFD(fd)
		delete(t.flocks, fh)
	}
}
