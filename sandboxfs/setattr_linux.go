package sandboxfs

import (
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// SetAttr is truncate(2), chmod(2), chown(2) and utimensat(2), by name or by
// an open file.
func (c *connection) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	if e := c.repeating(&in.InHeader); e != nil {
		return e.attributes(c, in, out)
	}
	return c.asking(&in.InHeader, func(grant pathresolver.Grant) error { return c.setAttr(in, out, grant) })
}

func (c *connection) setAttr(in *fuse.SetAttrIn, out *fuse.AttrOut, grant pathresolver.Grant) error {
	c.moves.RLock()
	defer c.moves.RUnlock()
	n, err := c.node(in.NodeId)
	if err != nil {
		return err
	}
	fd, done, err := c.changeable(in, n, grant)
	if err != nil {
		return err
	}
	defer done()
	if err := c.apply(fd, in); err != nil {
		return c.notChanged(in, n, fd, err)
	}
	var sx unix.Statx_t
	if err := statFD(fd, &sx); err != nil {
		return err
	}
	c.fill(&sx, &out.Attr)
	out.SetTimeout(c.valid(false))
	if in.Valid&fuse.FATTR_SIZE != 0 {
		c.changedNode(access.OpWrite, n, sx.Mode)
	} else if in.Valid&fuse.FATTR_MODE != 0 {
		c.changedNode(access.OpMeta, n, sx.Mode)
	}
	return nil
}

// changeable asks the rules and returns a descriptor of what is to change.
func (c *connection) changeable(in *fuse.SetAttrIn, n *node, grant pathresolver.Grant) (fd int, done func(), err error) {
	op, flags := access.OpMeta, unix.O_PATH
	_, resize := in.GetSize()
	if resize {
		op, flags = access.OpWrite, unix.O_WRONLY
	}
	if h := c.handleFor(in, n, resize); h != nil {
		if err = c.mayHandle(in, h); err != nil {
			h.drop()
			return -1, nil, err
		}
		return h.fd, h.drop, nil
	}
	if resize && n.typ != unix.S_IFREG {
		return -1, nil, unix.EINVAL
	}
	at, err := c.tab.place(n)
	if err == nil {
		if d := c.rules().DecideGranted(grant, op, at, 0); d != nil {
			if h := c.makerFor(in, n, d); h != nil {
				return h.fd, h.drop, nil
			}
			return -1, nil, c.ask(&in.InHeader, "setattr", d, grant, operation{op: op, place: at})
		}
	}
	var sx unix.Statx_t
	var place string
	if fd, place, err = c.open(n, flags, &sx); err != nil {
		return -1, nil, c.notOwnerAt(&in.InHeader, "setattr", op, at, at, err)
	}
	if grant != nil && place != at {
		closeFD(fd)
		return -1, nil, unix.ESTALE // it was given for another place
	}
	err = c.checkLinks(&in.InHeader, "setattr", place, &sx)
	if err == nil && op == access.OpWrite {
		err = c.checkLock(&in.InHeader, "setattr", place, &sx)
	}
	if err != nil {
		closeFD(fd)
		return -1, nil, err
	}
	return fd, func() { closeFD(fd) }, nil
}

// handleFor returns an open handle that may stand for the file: one that was
// opened for writing, so that the rules were asked then.
func (c *connection) handleFor(in *fuse.SetAttrIn, n *node, resize bool) *handle {
	if fh, ok := in.GetFh(); ok {
		h, err := c.opens.get(fh)
		if err == nil && h.node == n && h.writable {
			h.users.Add(1)
			return h
		}
	}
	if _, err := c.tab.place(n); err != nil && !resize {
		return c.opens.writableOf(n) // unlinked but open
	}
	return nil
}

// makerFor returns the handle through which a program has just made the file by a
// grant, if only the file's times are to change. touch(1) sets them before it closes
// the file, and nobody needs to be asked again about a file that nobody else has seen.
func (c *connection) makerFor(in *fuse.SetAttrIn, n *node, d *pathresolver.DeniedError) *handle {
	const others = fuse.FATTR_SIZE | fuse.FATTR_MODE | fuse.FATTR_UID | fuse.FATTR_GID | fuse.FATTR_KILL_SUIDGID
	if c.v.asks == nil || d.Rule != pathresolver.RuleAsk || in.Valid&others != 0 {
		return nil
	}
	return c.opens.makerOf(n)
}

// apply makes the changes. The order matters: changing the owner clears
// privilege bits, and changing the size moves the times.
func (c *connection) apply(fd int, in *fuse.SetAttrIn) error {
	if size, ok := in.GetSize(); ok {
		if err := unix.Ftruncate(fd, int64(size)); err != nil {
			return err
		}
	}
	if in.Valid&(fuse.FATTR_UID|fuse.FATTR_GID) != 0 {
		uid, gid := -1, -1
		if id, ok := in.GetUID(); ok {
			uid = int(id)
		}
		if id, ok := in.GetGID(); ok {
			gid = int(id)
		}
		if err := unix.Fchownat(fd, "", uid, gid, unix.AT_EMPTY_PATH); err != nil {
			return err
		}
	}
	if mode, ok := in.GetMode(); ok {
		var sx unix.Statx_t
		if err := statFD(fd, &sx); err != nil {
			return err
		}
		if armed(sx.Mode, mode) {
			return unix.EPERM
		}
		if err := chmodFD(fd, mode); err != nil {
			return err
		}
	}
	if in.Valid&fuse.FATTR_KILL_SUIDGID != 0 {
		if err := c.killPrivileges(fd); err != nil {
			return err
		}
	}
	if in.Valid&(fuse.FATTR_ATIME|fuse.FATTR_MTIME) == 0 {
		return nil
	}
	times := []unix.Timespec{
		timeOf(in.Valid, fuse.FATTR_ATIME, fuse.FATTR_ATIME_NOW, in.Atime, in.Atimensec),
		timeOf(in.Valid, fuse.FATTR_MTIME, fuse.FATTR_MTIME_NOW, in.Mtime, in.Mtimensec),
	}
	return unix.UtimesNanoAt(fd, "", times, unix.AT_EMPTY_PATH)
}

func timeOf(valid, set, now uint32, sec uint64, nsec uint32) unix.Timespec {
	switch {
	case valid&set == 0:
		return unix.Timespec{Nsec: unix.UTIME_OMIT}
	case valid&now != 0:
		return unix.Timespec{Nsec: unix.UTIME_NOW}
	}
	return unix.Timespec{Sec: int64(sec), Nsec: int64(nsec)}
}

// Access is access(2) where the kernel does not check permissions itself. It answers
// with the verdict: EROFS for what can never be written, and EACCES for what has to be
// asked for, unless that may have been granted.
func (c *connection) Access(_ <-chan struct{}, in *fuse.AccessIn) fuse.Status {
	return c.look(in.NodeId, func(n *node, fd int, place string) error {
		reads := in.Mask&fuse.R_OK != 0 || in.Mask&fuse.X_OK != 0 && n.typ == unix.S_IFREG
		if reads && place != "" && c.rules().AsksRead() {
			if d := c.rules().DecideGranted(c.v.asks.mayBeGranted(access.OpRead), access.OpRead, place, 0); d != nil {
				return errno(d.Rule)
			}
		}
		if in.Mask&fuse.W_OK != 0 && place != "" {
			if d := c.rules().DecideGranted(c.v.asks.mayBeGranted(access.OpWrite), access.OpMeta, place, 0); d != nil {
				return errno(d.Rule)
			}
		}
		if in.Mask&fuse.W_OK != 0 && c.ReadOnly {
			return unix.EROFS
		}
		return unix.Faccessat2(fd, "", in.Mask, unix.AT_EMPTY_PATH|unix.AT_EACCESS)
	})
}
