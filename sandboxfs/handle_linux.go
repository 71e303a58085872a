package sandboxfs

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// handle is an open file of a write mount. Its descriptor allows what the
// caller was allowed, no more.
type handle struct {
	id       uint64
	node     *node
	fd       int
	shown    *maskedCopy // what is read of it, if it is masked; nil otherwise
	masks    *masks
	who      uint32 // holds it (descriptors)
	writable bool
	text     bool         // what is written is checked (writeText)
	made     bool         // the file was made through this handle, by a grant; guarded by opens.mu
	users    atomic.Int32 // the kernel, and the callers of find
	locks    []*holder    // that were taken through it; guarded by lockTable.mu
	flocks   *holder      // has its flock(2) locks; likewise
}

func (h *handle) drop() {
	if h.users.Add(-1) == 0 {
		if h.shown != nil {
			h.masks.drop(h.shown)
		}
		closeFD(h.fd)
		budget.give(h.who)
	}
}

// readable reports whether it was opened for reading.
func (h *handle) readable() bool {
	mode, err := unix.FcntlInt(uintptr(h.fd), unix.F_GETFL, 0)
	return err == nil && mode&unix.O_ACCMODE != unix.O_WRONLY
}

// opened is what the open handles of one node share. The kernel wants it the
// same for all of them: a file whose data it moves itself (passthrough) must
// not be in its page cache at the same time.
type opened struct {
	handles []*handle
	backing int32 // the kernel's id of the file, 0 where the server moves the data

	// How the file was when somebody got a lock of it last, and whether every later
	// change has another time.
	seen    stamp
	settled bool
}

// opens are the open handles of a mount.
type opens struct {
	mu     sync.Mutex
	byID   map[uint64]*handle
	byNode map[*node]*opened
	next   uint64
	locks  *lockTable // of the view
}

func (o *opens) init(locks *lockTable) {
	o.byID, o.byNode, o.locks = map[uint64]*handle{}, map[*node]*opened{}, locks
}

// get returns an open handle; the kernel keeps it open during the request.
func (o *opens) get(id uint64) (*handle, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if h := o.byID[id]; h != nil {
		return h, nil
	}
	return nil, unix.EBADF
}

// anyOf returns an open handle of n, to be dropped, or nil.
func (o *opens) anyOf(n *node) *handle {
	return o.find(n, func(*handle) bool { return true })
}

// writableOf returns an open handle of n that may write, to be dropped, or
// nil.
func (o *opens) writableOf(n *node) *handle {
	return o.find(n, func(h *handle) bool { return h.writable })
}

// find returns an open handle of n that will do, to be dropped, or nil.
func (o *opens) find(n *node, does func(*handle) bool) *handle {
	o.mu.Lock()
	defer o.mu.Unlock()
	if open := o.byNode[n]; open != nil {
		for _, h := range open.handles {
			if does(h) {
				h.users.Add(1)
				return h
			}
		}
	}
	return nil
}

// madeBy notes that a handle's file was made through it, by a grant.
func (o *opens) madeBy(id uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if h := o.byID[id]; h != nil {
		h.made = true
	}
}

// makerOf returns the open handle through which n was made by a grant, to be dropped,
// or nil.
func (o *opens) makerOf(n *node) *handle {
	return o.find(n, func(h *handle) bool { return h.made })
}

// add takes a handle in. register is called for the first of a node and returns the
// kernel's id of the file, 0 for none.
func (o *opens) add(h *handle, register func() int32) (backing int32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := h.node
	o.next++
	h.id = o.next
	h.users.Store(1)
	open := o.byNode[n]
	if open == nil {
		open = &opened{backing: register()}
		o.byNode[n] = open
	}
	open.handles = append(open.handles, h)
	o.byID[h.id] = h
	return open.backing
}

// remove takes a handle out. With the last one of a file unregister is called
// with the kernel's id of it.
func (o *opens) remove(id uint64, unregister func(int32)) {
	o.mu.Lock()
	h := o.byID[id]
	if h == nil {
		o.mu.Unlock()
		return
	}
	delete(o.byID, id)
	open := o.byNode[h.node]
	if h.writable && open.backing > 0 {
		h.node.passed.Store(time.Now().UnixNano())
	}
	open.handles = slices.DeleteFunc(open.handles, func(other *handle) bool { return other == h })
	if len(open.handles) == 0 {
		delete(o.byNode, h.node)
		if open.backing > 0 {
			unregister(open.backing)
		}
	}
	o.mu.Unlock()
	h.drop()
}

// passedThrough reports whether the kernel moves the data of n, which is open, by itself.
func (o *opens) passedThrough(n *node) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	open := o.byNode[n]
	return open != nil && open.backing > 0
}

// passedEcho is for how long an event of a file may be that of a program inside whose
// data the kernel moved.
const passedEcho = 100 * time.Millisecond

// writtenThrough reports whether a program inside writes n, or has just written it, by
// passthrough: the kernel does that in the name of the program, not of the server.
func (o *opens) writtenThrough(n *node) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	open := o.byNode[n]
	return open != nil && open.backing > 0 && slices.ContainsFunc(open.handles, func(h *handle) bool { return h.writable }) ||
		time.Now().UnixNano()-n.passed.Load() < int64(passedEcho)
}

// changedBeside returns which open files of n's directory may have changed since it was
// last asked for them.
func (c *connection) changedBeside(n *node) []*node {
	dir, _ := c.tab.nameOf(n)
	o := &c.opens
	o.mu.Lock()
	defer o.mu.Unlock()
	var changed []*node
	for other, open := range o.byNode {
		if in, _ := c.tab.nameOf(other); in != dir && other != n {
			continue
		}
		var sx unix.Statx_t
		if statFD(open.handles[0].fd, &sx) != nil {
			continue
		}
		now := stampOf(&sx)
		if !open.settled || open.seen != now {
			changed = append(changed, other)
		}
		open.seen, open.settled = now, now.isSettled()
	}
	return changed
}

// closeAll closes what a connection left open when it ended.
func (o *opens) closeAll() {
	o.mu.Lock()
	all := o.byID
	o.byID, o.byNode = map[uint64]*handle{}, map[*node]*opened{}
	o.mu.Unlock()
	for _, h := range all {
		o.locks.released(h)
		h.drop()
	}
}

func (o *opens) count() (handles, backing int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, open := range o.byNode {
		if open.backing > 0 {
			backing++
		}
	}
	return len(o.byID), backing
}

// probePassthrough finds out whether the kernel takes a file from us to read
// and write it by itself. It does so for root in the initial user namespace: there
// an append of 512 bytes took 1.3 times as long as without a view; as an ordinary
// user, through the server, 10.5 times.
func (c *connection) probePassthrough() {
	// The file behind a write path that is a file may be replaced on the host
	// while it is open: then one kernel inode would have two backing files.
	if c.ReadOnly || c.File || !c.v.o.Passthrough {
		return
	}
	fd, err := unix.MemfdCreate("probe", unix.MFD_CLOEXEC)
	if err != nil {
		return
	}
	defer closeFD(fd)
	if id, e := c.conn.RegisterBacking(fd); e == 0 {
		c.unregister(id)
		c.passthrough.Store(true)
	}
}

// passes reports whether the kernel moves the data of open files itself.
func (c *connection) passes() bool { return c.passthrough.Load() }

// answerOpen makes a handle of fd, which it owns from now on, and tells the kernel how
// to use it. sx is how the file was when it was opened; nil if it was made, or is about
// to change. who holds it (descriptors). shown, if set, is read in the file's stead.
func (c *connection) answerOpen(n *node, fd int, shown *maskedCopy, who uint32, writable bool, sx *unix.Statx_t, out *fuse.OpenOut) {
	h := &handle{node: n, fd: fd, shown: shown, masks: &c.v.masks, who: who, writable: writable}
	backing := c.opens.add(h, func() int32 {
		if !c.passes() || shown != nil || c.isGitText(n) {
			return 0
		}
		id, e := c.conn.RegisterBacking(fd)
		if e != 0 {
			return 0 // the server moves the data while this file is open
		}
		return id
	})
	out.Fh = h.id
	if !writable {
		// Nothing is to be flushed. Only a POSIX read lock would be given back
		// by close(2); one taken through such a handle goes with the handle.
		out.OpenFlags = fuse.FOPEN_NOFLUSH
	}
	if backing > 0 {
		out.OpenFlags |= fuse.FOPEN_PASSTHROUGH
		out.BackingID = backing
	} else if sx != nil && !n.fixed.Load() && c.stamps.unchanged(n, sx) {
		out.OpenFlags |= fuse.FOPEN_KEEP_CACHE
	}
}

// unregister gives back the kernel's id of a file. It fails only when the
// connection has ended, and the id with it.
func (c *connection) unregister(id int32) {
	c.conn.UnregisterBacking(id)
}

// maxStamps bounds how many files are remembered.
const maxStamps = 1 << 16

// settled is how old a change must be before a file's times tell it from the next
// change: file systems stamp by the tick.
const settled = 20 * time.Millisecond

// stamp tells whether the content of a file is the same as before.
type stamp struct {
	size         uint64
	mtime, ctime int64
}

func stampOf(sx *unix.Statx_t) stamp {
	return stamp{
		size:  sx.Size,
		mtime: sx.Mtime.Sec*1e9 + int64(sx.Mtime.Nsec),
		ctime: sx.Ctime.Sec*1e9 + int64(sx.Ctime.Nsec),
	}
}

// isSettled reports whether the next change will have another time.
func (s stamp) isSettled() bool {
	return time.Since(time.Unix(0, max(s.mtime, s.ctime))) >= settled
}

// stamps decides whether the kernel may keep what it has read of a file when
// it is opened again. By default it reads anew after each open, which is right
// where the host may have written meanwhile.
type stamps struct {
	mu   sync.Mutex
	last map[*node]stamp
}

// unchanged reports whether n is as it was when it was opened before.
func (s *stamps) unchanged(n *node, sx *unix.Statx_t) bool {
	now := stampOf(sx)
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.last[n]
	if known && before == now {
		return true
	}
	if !now.isSettled() || !known && len(s.last) >= maxStamps {
		delete(s.last, n)
		return false
	}
	s.last[n] = now
	n.held.Store(true)
	return false
}

func (s *stamps) forget(n *node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last, n)
}
