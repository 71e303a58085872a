package sandboxfs

import (
	"context"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

// lockRequest is a lock that a program asks for, or asks about.
type lockRequest struct {
	c      *connection
	h      *handle
	owner  uint64 // the kernel's name for a process or an open file; not of flock(2)
	flock  bool
	span   span
	pid    uint32 // of the process; 0 where it is not known
	user   fuse.Owner
	waited bool // F_SETLKW, or flock(2) without LOCK_NB
}

func (c *connection) lockRequest(in *fuse.LkIn) (rq lockRequest, err error) {
	rq = lockRequest{c: c, owner: in.Owner, flock: in.LkFlags&fuse.LK_FLOCK != 0, pid: in.Lk.Pid, user: in.InHeader.Owner}
	rq.span = span{start: int64(in.Lk.Start), end: int64(min(in.Lk.End, lastOffset)), typ: int16(in.Lk.Typ), thread: in.Pid}
	switch rq.span.typ {
	case unix.F_RDLCK, unix.F_WRLCK, unix.F_UNLCK:
	default:
		return rq, unix.EINVAL
	}
	rq.h, err = c.opens.get(in.Fh)
	return rq, err
}

// GetLk is F_GETLK and F_OFD_GETLK. It names the process that holds the lock in the
// way: the kernel translates the number for who asks, and makes -1 of it where that is
// asked with F_OFD_GETLK. A lock of the host's is named only where the view is mounted
// by this process: elsewhere the number could mean another process. The kernel lets a
// file system say 0, but not -1, where no process is to be named.
func (c *connection) GetLk(_ <-chan struct{}, in *fuse.LkIn, out *fuse.LkOut) fuse.Status {
	rq, err := c.lockRequest(in)
	if err != nil {
		return status(err)
	}
	out.Lk = in.Lk
	found, err := c.opens.locks.inTheWay(&rq)
	if err != nil {
		return status(err)
	}
	out.Lk.Typ, out.Lk.Pid = uint32(found.typ), 0
	if found.typ == unix.F_UNLCK {
		return fuse.OK
	}
	out.Lk.Start, out.Lk.End = uint64(found.start), uint64(found.end)
	if !found.hosts || c.mountedHere {
		out.Lk.Pid = found.pid
	}
	return fuse.OK
}

// SetLk is F_SETLK and flock(2) with LOCK_NB.
func (c *connection) SetLk(_ <-chan struct{}, in *fuse.LkIn) fuse.Status {
	rq, err := c.lockRequest(in)
	if err != nil {
		return status(err)
	}
	if rq.span.typ == unix.F_UNLCK {
		c.unlocking(&in.InHeader, &rq)
	}
	if _, err = c.opens.locks.take(rq); err == nil {
		c.locked(&in.InHeader, &rq)
	}
	return status(err)
}

// LockFile is F_SETLKW and flock(2), which wait. A signal ends the wait, and so
// does the end of the connection.
func (c *connection) LockFile(in *fuse.LkIn) fuseconn.Reply {
	rq, err := c.lockRequest(in)
	if err != nil {
		return fuseconn.Reply{Status: status(err)}
	}
	rq.waited = true
	wait, err := c.opens.locks.take(rq)
	if wait == nil {
		if err == nil {
			c.locked(&in.InHeader, &rq)
		}
		return fuseconn.Reply{Status: status(err)}
	}
	return fuseconn.Reply{Later: func(ctx context.Context) fuseconn.Reply {
		err := c.opens.locks.await(ctx, wait)
		if err == nil {
			c.locked(nil, &rq)
		}
		return fuseconn.Reply{Status: status(err)}
	}}
}

// locked has who got a lock see what is there now. The kernel believes for a while what
// it knows of names and files, and the host may have changed them a moment ago under the
// same lock: a database that goes on with old pages loses what others committed. The
// lock may be of one file and the data in others: those beside it count.
func (c *connection) locked(h *fuse.InHeader, rq *lockRequest) {
	if rq.span.typ == unix.F_UNLCK {
		return
	}
	names, files := c.staleNames(rq.h.node), c.changedBeside(rq.h.node)
	if h != nil && len(names)+len(files) > 0 {
		c.slow(h) // the kernel waits for requests in that directory, and for pages that are written
	}
	for _, key := range names {
		c.conn.ForgetName(key.dir.id, key.name)
		c.conn.ForgetInode(key.dir.id)
	}
	for _, n := range files {
		c.conn.ForgetInode(n.id)
	}
}

// unlocking has the kernel write what was written to a map of a file before the lock is
// given back: the next who gets it may be the host. The kernel does that by itself
// before it tells of close(2).
func (c *connection) unlocking(h *fuse.InHeader, rq *lockRequest) {
	if !c.opens.passedThrough(rq.h.node) && c.opens.locks.mayHaveWritten(rq) {
		c.slow(h)
		c.conn.ForgetInode(rq.h.node.id)
	}
}

// lockPoll bounds how late a lock that the host gave back is noticed. Locks
// given back through the view are noticed at once.
const lockPoll = 50 * time.Millisecond

// await returns when the lock was got, or will not be.
func (t *lockTable) await(ctx context.Context, w *lockWait) error {
	pause := time.Millisecond
	for {
		var retry <-chan time.Time
		if t.waitsForHost(w) { // a timer that nobody waits for any more costs nothing
			retry = time.After(pause)
			pause = min(2*pause, lockPoll)
		}
		select {
		case <-ctx.Done():
			return t.giveUp(w)
		case <-w.wake:
			pause = time.Millisecond
		case <-retry:
		}
		if over, err := t.retry(w); over {
			return err
		}
	}
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
	c.opens.locks.flushed(lockerKey{c, in.LockOwner}, h.node)
	return fuse.OK
}
