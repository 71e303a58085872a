package sandboxfs

import (
	"strings"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// mapGuard keeps everybody outside from a file as long as somebody in the view has a
// lock of it.
//
// The processes that use a database may share memory by mapping a file, and agree by
// locks of that file who does what. Where the server moves the file's data, maps in the
// view have pages of their own: a database that is open in the view and outside would
// lose what one of them commits. So locks of such a file hold within the view, and
// outside all of it is locked. Who comes second finds the database locked.
type mapGuard struct {
	fd int // has the lock, -1 if it is not held
}

// guardsMap reports whether a file of this name holds the locks of who maps it, or of
// who maps a file beside it: SQLite's index of a write-ahead log
// (https://sqlite.org/walformat.html) and LMDB's table of readers.
func guardsMap(name string) bool {
	return strings.HasSuffix(name, "-shm") || name == "lock.mdb"
}

// newMapGuard returns the guard of a file, or nil if it needs none.
func newMapGuard(rq *lockRequest) *mapGuard {
	if _, name := rq.c.tab.nameOf(rq.h.node); rq.flock || !guardsMap(name) || rq.c.opens.passedThrough(rq.h.node) {
		return nil
	}
	return &mapGuard{fd: -1}
}

// admit takes a lock within the view, or gives it back. It is EAGAIN as long as
// somebody outside has a lock of the file.
func (g *mapGuard) admit(hd *holder, rq *lockRequest) error {
	if rq.span.typ == unix.F_UNLCK {
		return nil
	}
	if hd.file.blocks(hd, rq.span) {
		return unix.EAGAIN
	}
	if g.fd >= 0 {
		return nil
	}
	fd, err := reopenForLocks(rq.h)
	if err != nil {
		return err
	}
	all := everything
	all.typ = unix.F_WRLCK
	lk := all.flock()
	if err := unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &lk); err != nil {
		closeFD(fd)
		if err == unix.EAGAIN {
			rq.c.openOutside(rq, hd.file.key)
		}
		return unix.EAGAIN // also where the file is open for reading alone
	}
	g.fd = fd
	delete(rq.c.opens.locks.outside, hd.file.key)
	return nil
}

// settle lets the host in again when nobody has a lock of the file any more. What was
// written to a map is in the file by then: the kernel writes it before it tells of
// close(2), by which programs give back the last one.
func (g *mapGuard) settle(f *lockedFile) {
	if g == nil || g.fd < 0 {
		return
	}
	for _, hd := range f.holders {
		if len(hd.held) > 0 {
			return
		}
	}
	closeFD(g.fd)
	g.fd = -1
}

// openOutside tells of a file that somebody outside uses so that nobody in the view can:
// once, since who finds a database locked tries again, a hundred times and more.
func (c *connection) openOutside(rq *lockRequest, file lockedKey) {
	place, err := c.tab.place(rq.h.node)
	if told := c.opens.locks.outside; err == nil && !told[file] && len(told) < refusalQueue {
		told[file] = true
		_ = c.refuse(&fuse.InHeader{Caller: fuse.Caller{Pid: rq.span.thread, Owner: rq.user}}, "fcntl",
			&pathresolver.DeniedError{Op: access.OpWrite, Path: place, Rule: RuleOpenOutside})
	}
}
