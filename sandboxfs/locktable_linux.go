package sandboxfs

import (
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// Locks of write mounts are taken on the backing files, so that they hold
// against the host too. flock(2) locks lie on a descriptor that belongs to the
// handle; not on the one that it reads from, which the kernel may hold open
// longer for passthrough. The others belong to an owner, a process or an open file:
// each owner has a descriptor of its own per file, with open file description locks
// on it (F_OFD_SETLK, fcntl_locking(2)); closing it drops what the owner held.
//
// What is held is noted here, too: who waits for somebody in the view tries again when
// that one gives it back, and only who waits for the host does so again and again.

// lockTable has the locks of a view.
type lockTable struct {
	mu      sync.Mutex
	lockers map[lockerKey]*locker
	files   map[lockedKey]*lockedFile
	threads map[uint32]*lockWait // POSIX locks that are waited for, by who waits
	outside map[lockedKey]bool   // files with a mapGuard that was not had: they are told of
}

func (t *lockTable) init() {
	t.lockers, t.files, t.threads = map[lockerKey]*locker{}, map[lockedKey]*lockedFile{}, map[uint32]*lockWait{}
	t.outside = map[lockedKey]bool{}
}

// lockerKey names an owner of POSIX locks.
type lockerKey struct {
	c     *connection
	owner uint64
}

// locker is an owner of POSIX locks while it holds some, or waits.
type locker struct {
	key     lockerKey
	first   *handle // that it was seen with
	process bool    // it is no open file (deadlock_linux.go)
	holders map[*node]*holder
	waits   []*lockWait
}

// lockedKey names a file that is locked: two nodes, and two mounts, may have the same
// one. The two kinds of locks do not meet.
type lockedKey struct {
	dev, ino uint64
	flock    bool
}

type lockedFile struct {
	key     lockedKey
	holders []*holder
	waits   []*lockWait // in order
	guard   *mapGuard   // nil where locks are taken on the backing file
}

// holder has the locks of one owner on a file: of a locker, or flock(2)'s of a handle.
type holder struct {
	file   *lockedFile
	locker *locker // nil of flock(2)
	node   *node
	handle *handle // of flock(2)
	fd     int     // carries them
	who    uint32  // holds fd (descriptors)
	pid    uint32  // of who holds them, 0 where that is not known
	held   spans
	by     []*handle // that they were taken through
	waits  int
}

// lockWait is a lock that is waited for.
type lockWait struct {
	lockRequest
	holder *holder
	host   bool          // what was in the way last was nobody's in the view
	wake   chan struct{} // holds one: it may be had now
}

// take takes or gives back a lock. Where that has to wait for somebody it begins to.
func (t *lockTable) take(rq lockRequest) (*lockWait, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	hd := t.holderOf(&rq)
	if hd == nil && rq.span.typ == unix.F_UNLCK {
		return nil, nil
	}
	if hd == nil {
		var err error
		if hd, err = t.newHolder(&rq); err != nil {
			return nil, err
		}
	}
	if hd.locker != nil && hd.locker.first != rq.h {
		hd.locker.process = true
	}
	lowered, err := hd.set(&rq)
	if lowered {
		t.wake(hd.file)
	}
	if err == unix.EAGAIN && rq.waited {
		w := &lockWait{lockRequest: rq, holder: hd, host: !hd.file.blocks(hd, rq.span), wake: make(chan struct{}, 1)}
		if rq.flock || !t.closesCycle(w) {
			t.enqueue(w)
			return w, nil
		}
		err = unix.EDEADLK
	}
	t.dropIdle(hd)
	return nil, err
}

// set has the kernel change a lock. It reports whether others may get what was held.
func (hd *holder) set(rq *lockRequest) (lowered bool, err error) {
	if rq.flock {
		how := unix.LOCK_UN
		switch rq.span.typ {
		case unix.F_RDLCK:
			how = unix.LOCK_SH
		case unix.F_WRLCK:
			how = unix.LOCK_EX
		}
		err = unix.Flock(hd.fd, how|unix.LOCK_NB)
		if err == unix.EAGAIN { // a lock that cannot be changed to another is lost, flock(2)
			return hd.held.put(everything), err
		}
	} else if hd.file.guard != nil {
		err = hd.file.guard.admit(hd, rq)
	} else {
		lk := rq.span.flock()
		err = unix.FcntlFlock(uintptr(hd.fd), unix.F_OFD_SETLK, &lk)
	}
	if err != nil {
		return false, err
	}
	if rq.pid != 0 { // which the kernel does not tell of who gives back
		hd.pid = rq.pid
	}
	if !slices.Contains(hd.by, rq.h) {
		hd.by = append(hd.by, rq.h)
		rq.h.locks = append(rq.h.locks, hd)
	}
	lowered = hd.held.put(rq.span)
	hd.file.guard.settle(hd.file)
	return lowered, nil
}

// holderOf returns who has the locks that a request is about, or nil.
func (t *lockTable) holderOf(rq *lockRequest) *holder {
	if rq.flock {
		return rq.h.flocks
	}
	if l := t.lockers[lockerKey{rq.c, rq.owner}]; l != nil {
		return l.holders[rq.h.node]
	}
	return nil
}

func (t *lockTable) newHolder(rq *lockRequest) (*holder, error) {
	who, err := budget.take(rq.span.thread)
	if err != nil {
		return nil, unix.ENOLCK
	}
	fd, err := reopenForLocks(rq.h)
	if err != nil {
		budget.give(who)
		return nil, err
	}
	key, err := lockedKeyOf(fd, rq.flock)
	if err != nil {
		closeFD(fd)
		budget.give(who)
		return nil, err
	}
	file := t.files[key]
	if file == nil {
		file = &lockedFile{key: key, guard: newMapGuard(rq)}
		t.files[key] = file
	}
	hd := &holder{file: file, node: rq.h.node, fd: fd, who: who}
	file.holders = append(file.holders, hd)
	if rq.flock {
		rq.h.flocks, hd.handle = hd, rq.h
		return hd, nil
	}
	owner := lockerKey{rq.c, rq.owner}
	hd.locker = t.lockers[owner]
	if hd.locker == nil {
		hd.locker = &locker{key: owner, first: rq.h, holders: map[*node]*holder{}}
		t.lockers[owner] = hd.locker
	}
	hd.locker.holders[hd.node] = hd
	return hd, nil
}

func lockedKeyOf(fd int, flock bool) (lockedKey, error) {
	var st unix.Stat_t
	err := fsat.Fstat(fd, &st)
	return lockedKey{dev: st.Dev, ino: st.Ino, flock: flock}, err
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

// blocks reports whether somebody else in the view holds what is in the way.
func (f *lockedFile) blocks(who *holder, what span) bool {
	for range f.inTheWay(who, what) {
		return true
	}
	return false
}

func (t *lockTable) enqueue(w *lockWait) {
	w.holder.waits++
	w.holder.file.waits = append(w.holder.file.waits, w)
	if l := w.holder.locker; l != nil {
		l.waits = append(l.waits, w)
		t.threads[w.span.thread] = w
	}
}

// dequeue ends a wait.
func (t *lockTable) dequeue(w *lockWait) {
	same := func(other *lockWait) bool { return other == w }
	hd := w.holder
	hd.file.waits = slices.DeleteFunc(hd.file.waits, same)
	if l := hd.locker; l != nil {
		l.waits = slices.DeleteFunc(l.waits, same)
		if t.threads[w.span.thread] == w {
			delete(t.threads, w.span.thread)
		}
	}
	hd.waits--
	t.dropIdle(hd)
	t.wake(hd.file) // who can have it besides, or in its place
}

// giveUp ends a wait that was interrupted.
func (t *lockTable) giveUp(w *lockWait) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dequeue(w)
	return unix.EINTR
}

// waitsForHost reports whether nobody in the view will tell w to try again.
func (t *lockTable) waitsForHost(w *lockWait) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return w.host
}

// retry tries again to get a lock, and reports whether the wait is over. If it is not,
// somebody else may be in the way of w alone: those that w stood before try, too.
func (t *lockTable) retry(w *lockWait) (over bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	hd, was := w.holder, w.host
	if w.host = !hd.file.blocks(hd, w.span); w.host {
		var lowered bool
		if lowered, err = hd.set(&w.lockRequest); err == unix.EAGAIN {
			if lowered || !was {
				t.wake(hd.file)
			}
			return false, nil
		}
	} else if w.flock || !t.closesCycle(w) {
		t.wake(hd.file)
		return false, nil
	} else {
		err = unix.EDEADLK
	}
	t.dequeue(w)
	return true, err
}

// wake has those who wait for a file try again, of those that are in each other's way
// the first. They do not get it before: who runs already may be faster, or each lock
// would be handed over from one process to the next, which takes twice as long.
func (t *lockTable) wake(f *lockedFile) {
	var first []*lockWait
	for _, w := range f.waits {
		if f.blocks(w.holder, w.span) {
			if w.flock || !t.closesCycle(w) {
				continue // for it nothing has changed
			}
		} else if slices.ContainsFunc(first, func(other *lockWait) bool {
			return other.holder != w.holder && other.span.conflicts(w.span)
		}) {
			continue
		} else if !w.host {
			first = append(first, w)
		}
		select {
		case w.wake <- struct{}{}:
		default: // it is about to
		}
	}
}

// mayHaveWritten reports whether a lock under which a file may be written is about to be
// given back to the host.
func (t *lockTable) mayHaveWritten(rq *lockRequest) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	hd := t.holderOf(rq)
	return hd != nil && hd.file.guard == nil && slices.ContainsFunc(hd.held, func(s span) bool {
		return s.typ == unix.F_WRLCK && s.overlaps(rq.span)
	})
}

// lockFound is a lock that is in the way of another.
type lockFound struct {
	span         // its type is F_UNLCK if there is none
	pid   uint32 // of who holds it, 0 where that is not known
	hosts bool   // it is nobody's in the view
}

// inTheWay asks what is in the way of a lock.
func (t *lockTable) inTheWay(rq *lockRequest) (lockFound, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	hd := t.holderOf(rq)
	fd := rq.h.fd
	if hd != nil {
		fd = hd.fd // own locks are not in the way
	}
	key, err := lockedKeyOf(fd, false)
	if err != nil {
		return lockFound{}, err
	}
	f := t.files[key]
	if f != nil && f.guard != nil && f.guard.fd >= 0 {
		for other, s := range f.inTheWay(hd, rq.span) {
			return lockFound{span: s, pid: other.pid}, nil
		}
		return lockFound{span: everything}, nil
	}
	lk := rq.span.flock()
	if err := unix.FcntlFlock(uintptr(fd), unix.F_OFD_GETLK, &lk); err != nil {
		return lockFound{}, err
	}
	found := lockFound{span: spanOf(&lk), hosts: true, pid: uint32(max(lk.Pid, 0))}
	if lk.Type == unix.F_UNLCK || lk.Pid >= 0 {
		return found, nil
	}
	if f != nil {
		for other, s := range f.inTheWay(hd, rq.span) {
			exact := s.start == found.start && s.end == found.end
			if exact || found.hosts && s.overlaps(found.span) {
				found.pid, found.hosts = other.pid, false
			}
		}
	}
	return found, nil
}

// flushed is close(2) of some descriptor of the file by this owner: all of
// its locks on the file go, as POSIX wants it.
func (t *lockTable) flushed(owner lockerKey, n *node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lockers[owner]
	if l == nil {
		return
	}
	l.process = true
	if hd := l.holders[n]; hd != nil {
		t.giveBack(hd)
	}
}

// released is the end of a handle: locks that were taken through no other go.
func (t *lockTable) released(h *handle) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, hd := range h.locks {
		hd.by = slices.DeleteFunc(hd.by, func(other *handle) bool { return other == h })
		if len(hd.by) == 0 {
			t.giveBack(hd)
		}
	}
	h.locks = nil
}

// giveBack gives back all that is held.
func (t *lockTable) giveBack(hd *holder) {
	for _, h := range hd.by {
		h.locks = slices.DeleteFunc(h.locks, func(other *holder) bool { return other == hd })
	}
	hd.by = nil
	if hd.waits > 0 { // another thread of its process
		lk := everything.flock()
		_ = unix.FcntlFlock(uintptr(hd.fd), unix.F_OFD_SETLK, &lk)
		hd.held.put(everything)
		hd.file.guard.settle(hd.file)
	} else {
		t.drop(hd)
	}
	t.wake(hd.file)
}

// dropIdle drops who neither holds anything nor waits, nor is likely to again.
func (t *lockTable) dropIdle(hd *holder) {
	if hd.waits == 0 && len(hd.by) == 0 {
		t.drop(hd)
	}
}

func (t *lockTable) drop(hd *holder) {
	closeFD(hd.fd)
	budget.give(hd.who)
	hd.held = nil
	f := hd.file
	f.holders = slices.DeleteFunc(f.holders, func(other *holder) bool { return other == hd })
	f.guard.settle(f)
	if len(f.holders) == 0 && t.files[f.key] == f {
		delete(t.files, f.key)
	}
	l := hd.locker
	if l == nil {
		hd.handle.flocks = nil
		return
	}
	delete(l.holders, hd.node)
	if len(l.holders) == 0 {
		delete(t.lockers, l.key)
	}
}
