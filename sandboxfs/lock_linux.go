package sandboxfs

import (
	"context"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

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

// LockFile is F_SETLKW and flock(2), which wait. A signal ends the wait, and so
// does the end of the connection.
func (p *part) LockFile(in *fuse.LkIn) fuseconn.Reply {
	if err := p.tryLock(in); err != unix.EAGAIN {
		return fuseconn.Reply{Status: status(err)}
	}
	again := *in
	return fuseconn.Reply{Later: func(ctx context.Context) fuseconn.Reply {
		return fuseconn.Reply{Status: p.waitLock(ctx, &again)}
	}}
}

func (p *part) waitLock(ctx context.Context, in *fuse.LkIn) fuse.Status {
	pause := time.Millisecond
	for {
		freed := p.opens.locks.waiting()
		if err := p.tryLock(in); err != unix.EAGAIN {
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

func (p *part) tryLock(in *fuse.LkIn) error {
	h, err := p.opens.get(in.Fh)
	if err != nil {
		return err
	}
	if in.LkFlags&fuse.LK_FLOCK == 0 {
		lk := flockOf(in)
		return p.opens.locks.set(h, in.Owner, &lk)
	}
	return p.opens.locks.flock(h, in.Lk.Typ)
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
