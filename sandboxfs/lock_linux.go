package sandboxfs

import (
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Locks of write parts are taken on the backing files, so that they hold
// against the host too. flock(2) locks lie on the descriptor of the handle.
// The others belong to an owner, a process or an open file: each owner has a
// descriptor of its own per file, with open file description locks on it
// (F_OFD_SETLK, fcntl_locking(2)); closing it drops what the owner held.

// lockOwner is who holds POSIX locks of a file.
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
	freed  chan struct{} // closed, and made anew, when a lock was given back
}

func (t *lockTable) init() {
	t.owners, t.freed = map[lockOwner]*ownerLocks{}, make(chan struct{})
}

// wake has those who wait for a lock try again. The lock is held.
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

// reopenForLocks opens the file of h once more. A write lock needs a
// descriptor that may write, which the kernel has checked of the caller's.
func reopenForLocks(h *handle) (int, error) {
	flags := unix.O_RDONLY
	if h.writable {
		flags = unix.O_RDWR
	}
	fd, err := unix.Open(procPath(h.fd), flags|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err == unix.EACCES && h.writable { // a file that may be written but not read
		fd, err = unix.Open(procPath(h.fd), unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	}
	return fd, err
}

// get asks who is in the way of a lock.
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
	t.wake() // a flock lock goes with its descriptor
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
}

// GetLk is F_GETLK.
func (p *part) GetLk(_ <-chan struct{}, in *fuse.LkIn, out *fuse.LkOut) fuse.Status {
	h, err := p.opens.get(in.Fh)
	if err != nil {
		return status(err)
	}
	lk := flockOf(in)
	if err := p.opens.locks.get(h, in.Owner, &lk); err != nil {
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
func (p *part) SetLk(_ <-chan struct{}, in *fuse.LkIn) fuse.Status {
	return status(p.tryLock(in))
}

// lockPoll bounds how late a lock that the host gave back is noticed. Locks
// given back through the view are noticed at once.
const lockPoll = 50 * time.Millisecond

// SetLkw is F_SETLKW and flock(2), which wait. A signal ends the wait.
func (p *part) SetLkw(cancel <-chan struct{}, in *fuse.LkIn) fuse.Status {
	pause := time.Millisecond
	for {
		freed := p.opens.locks.waiting()
		if err := p.tryLock(in); err != unix.EAGAIN && err != unix.EACCES {
			return status(err)
		}
		retry := time.NewTimer(pause)
		select {
		case <-cancel:
			retry.Stop()
			return fuse.EINTR
		case <-freed:
			retry.Stop()
		case <-retry.C:
			pause = min(2*pause, lockPoll)
		}
	}
}

func (p *part) tryLock(in *fuse.LkIn) error {
	h, err := p.opens.get(in.Fh)
	if err != nil {
		return err
	}
	if in.LkFlags&fuse.LK_FLOCK == 0 {
		lk := flockOf(in)
		return p.opens.locks.set(h, in.Owner, &lk)
	}
	how := map[uint32]int{unix.F_RDLCK: unix.LOCK_SH, unix.F_WRLCK: unix.LOCK_EX, unix.F_UNLCK: unix.LOCK_UN}[in.Lk.Typ]
	if how == 0 {
		return unix.EINVAL
	}
	err = unix.Flock(h.fd, how|unix.LOCK_NB)
	if how == unix.LOCK_UN {
		p.opens.locks.mu.Lock()
		p.opens.locks.wake()
		p.opens.locks.mu.Unlock()
	}
	return err
}

// Flush is close(2) of one of the descriptors of an open file.
func (p *part) Flush(_ <-chan struct{}, in *fuse.FlushIn) fuse.Status {
	if p.ReadOnly {
		return fuse.ENOSYS // no handles, no locks of ours: the kernel asks once
	}
	h, err := p.opens.get(in.Fh)
	if err != nil {
		return status(err)
	}
	p.opens.locks.flushed(h.node, in.LockOwner)
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
