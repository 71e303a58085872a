package sandboxfs

import (
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

// keptFlags are the flags of open(2) that reach the backing file. O_APPEND is
// done per write, O_DIRECT would ask for aligned buffers, and O_TRUNC comes
// after the checks: a file that is refused must not be empty already.
const keptFlags = unix.O_ACCMODE | unix.O_SYNC | unix.O_DSYNC

// OpenFile is open(2) of a file that exists. The read-only mount answers the first
// one with ENOSYS: from then on the kernel opens by itself.
func (c *connection) OpenFile(in *fuse.OpenIn) (r fuseconn.Reply) {
	if c.ReadOnly {
		r.Status = fuse.ENOSYS
		return r
	}
	if e := c.repeating(&in.InHeader); e != nil {
		return e.open(c)
	}
	open := func(grant pathresolver.Grant) error { return c.open1(in, &r.Open, grant) }
	err := open(nil)
	if q, ok := err.(*askFirst); ok && q.Wait {
		return c.openLater(in, q)
	}
	r.Status = status(c.again(&in.InHeader, err, open))
	return r
}

// open1 opens a file with what was granted; nil where nothing was. It asks the rules,
// walks to the file's place and makes a handle of it.
func (c *connection) open1(in *fuse.OpenIn, out *fuse.OpenOut, grant pathresolver.Grant) error {
	return holding(&in.InHeader, func(who uint32) error { return c.openFor(who, in, out, grant) })
}

func (c *connection) openFor(who uint32, in *fuse.OpenIn, out *fuse.OpenOut, grant pathresolver.Grant) error {
	c.moves.RLock()
	defer c.moves.RUnlock()
	n, err := c.node(in.NodeId)
	if err != nil {
		return err
	}
	writing := int(in.Flags)&unix.O_ACCMODE != unix.O_RDONLY || in.Flags&unix.O_TRUNC != 0
	var sx unix.Statx_t
	was := &sx
	fd, err := c.openFile(&in.InHeader, "open", n, int(in.Flags), writing, was, grant)
	if err != nil {
		return err
	}
	shown, err := c.shown(&in.InHeader, "open", n, fd)
	if shown != nil && writing { // no rule allows it
		c.v.masks.drop(shown)
		err = unix.EROFS
	}
	if err != nil {
		closeFD(fd)
		return err
	}
	if in.Flags&unix.O_TRUNC != 0 {
		err := unix.Ftruncate(fd, 0)
		if err == nil && in.Mode&fuse.OPEN_KILL_SUIDGID != 0 {
			err = c.killPrivileges(fd)
		}
		if err != nil {
			closeFD(fd)
			return err
		}
		was = nil
	}
	c.answerOpen(n, fd, shown, who, int(in.Flags)&unix.O_ACCMODE != unix.O_RDONLY, was, out)
	if writing {
		c.holdText(n, out.Fh)
		c.changedNode(access.OpWrite, n, sx.Mode)
	}
	return nil
}

// openFile opens the regular file of n. The rules are asked first; if it is to be
// written, its hard links are looked at afterwards. A grant holds for one place.
func (c *connection) openFile(h *fuse.InHeader, call string, n *node, flags int, writing bool, sx *unix.Statx_t, grant pathresolver.Grant) (int, error) {
	if n.typ != unix.S_IFREG {
		return -1, unix.EACCES
	}
	at, err := c.tab.place(n)
	if err != nil && grant != nil {
		return -1, err // it was given for a place
	}
	if err == nil {
		if err := c.decideOpen(h, call, n, at, flags, writing, grant); err != nil {
			return -1, err
		}
	}
	kept := flags & keptFlags
	if flags&unix.O_TRUNC != 0 && kept&unix.O_ACCMODE == unix.O_RDONLY {
		kept |= unix.O_RDWR
	}
	fd, place, err := c.open(n, kept, sx)
	if err == unix.ESTALE || err == unix.ENOENT {
		if fd, err := c.reopen(n, flags); err == nil {
			return fd, statFD(fd, sx)
		}
	}
	if err != nil {
		op := access.OpRead
		if writing {
			op = access.OpWrite
		}
		return -1, c.notOwnerAt(h, call, op, at, at, err)
	}
	if grant != nil && place != at {
		if err := c.decideOpen(h, call, n, place, flags, writing, grant); err != nil {
			closeFD(fd)
			return -1, err
		}
	}
	if writing {
		err := c.checkLinks(h, call, place, sx)
		if err == nil {
			err = c.checkLock(h, call, place, sx)
		}
		if err != nil {
			closeFD(fd)
			return -1, err
		}
		if err := c.disarm(fd, sx); err != nil {
			closeFD(fd)
			return -1, err
		}
	}
	return fd, nil
}

// decideOpen asks the rules about opening a file. Those about reading count
// where any may have to be asked for.
func (c *connection) decideOpen(h *fuse.InHeader, call string, n *node, place string, flags int, writing bool, grant pathresolver.Grant) error {
	reads := c.rules().AsksRead() && flags&unix.O_ACCMODE != unix.O_WRONLY
	a := operation{op: access.OpWrite, place: place, reads: reads}
	switch {
	case writing:
	case reads:
		a = operation{op: access.OpRead, place: place}
	default:
		return nil
	}
	d := a.decide(c.rules(), grant)
	if d == nil {
		return nil
	}
	if may, _ := c.mayWrite(d, place); may && writing {
		return nil
	}
	if d.Rule == pathresolver.RuleAsk && c.v.asks != nil {
		if err := c.futile(h, call, n, a); err != nil {
			return err
		}
	}
	return c.ask(h, call, d, grant, a)
}

// refuseRead asks the rules about content, where any may have to be asked for.
func (c *connection) refuseRead(h *fuse.InHeader, call, place string) error {
	if c.rules().AsksRead() {
		if d := c.rules().Decide(access.OpRead, place, 0); d != nil {
			return c.refuse(h, call, d)
		}
	}
	return nil
}

// disarm takes the set-user-id and set-group-id bits from a file that is opened for
// writing with passthrough. Without passthrough the first write by a process that may
// not keep the bits takes them. With it, and with HANDLE_KILLPRIV_V2, the kernel
// leaves that to the server and then does not tell it of the write (Linux 6.18).
func (c *connection) disarm(fd int, sx *unix.Statx_t) error {
	if sx.Mode&(unix.S_ISUID|unix.S_ISGID) == 0 || !c.passes() {
		return nil
	}
	return c.killPrivileges(fd)
}

// reopen opens a file that is no longer at its place through a handle that is open, as
// a program does through /proc/self/fd. It never gives more than that handle has:
// where reading may have to be asked for, a grant to write is no grant to read.
func (c *connection) reopen(n *node, flags int) (int, error) {
	writes := flags&unix.O_ACCMODE != unix.O_RDONLY || flags&unix.O_TRUNC != 0
	reads := c.rules().AsksRead() && flags&unix.O_ACCMODE != unix.O_WRONLY
	h := c.opens.find(n, func(h *handle) bool { return (!writes || h.writable) && (!reads || h.readable()) })
	if h == nil {
		return -1, unix.ESTALE
	}
	defer h.drop()
	fd, err := unix.Open(procPath(h.fd), flags&keptFlags|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	return fd, err
}

// checkLinks refuses to change a file in place that has hard links elsewhere, since
// writing would change them too. Of a file that was removed through the view every
// remaining link counts: the removed name was the one that might be written. Where
// links are to be broken it puts a copy in the file's place and returns ESTALE: the
// kernel looks the name up again and finds the copy.
func (c *connection) checkLinks(h *fuse.InHeader, call, place string, sx *unix.Statx_t) error {
	switch {
	case sx.Mode&unix.S_IFMT == unix.S_IFDIR:
		return nil
	case place == "" && sx.Nlink > 0:
		return c.refuse(h, call, &pathresolver.DeniedError{
			Op: access.OpWrite, Path: "(removed)", Rule: pathresolver.RuleHardLink,
			Reason: "the name that might be written is gone, and the file has others"})
	case sx.Nlink <= 1:
		return nil
	}
	breakIt, d := c.rules().CheckLinks(place, fileID(sx))
	switch {
	case d != nil:
		return c.refuse(h, call, d)
	case !breakIt:
		return nil
	}
	if err := c.rules().BreakLinks(place); err != nil {
		return err
	}
	return unix.ESTALE
}

// Release is the last close(2) of an open file.
func (c *connection) Release(_ <-chan struct{}, in *fuse.ReleaseIn) {
	if h, err := c.opens.get(in.Fh); err == nil {
		c.opens.locks.released(h)
	}
	c.opens.remove(in.Fh, c.unregister)
}
