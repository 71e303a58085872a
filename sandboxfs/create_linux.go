package sandboxfs

import (
	"io/fs"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Mkdir is mkdir(2).
func (c *connection) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	if e := c.repeating(&in.InHeader); e != nil {
		return e.made(c, &in.InHeader, name, out)
	}
	mode := plainMode(in.Mode&0o7777, true)
	return c.make(&in.InHeader, "mkdir", name, fs.ModeDir, mode, out, func(dirfd int) error {
		return unix.Mkdirat(dirfd, name, mode)
	})
}

// Mknod is mknod(2) of a regular file, a FIFO or a socket. Devices are never
// made, nor the character device 0:0 by which overlayfs hides files.
func (c *connection) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	if e := c.repeating(&in.InHeader); e != nil {
		return e.made(c, &in.InHeader, name, out)
	}
	var kind fs.FileMode
	switch in.Mode & unix.S_IFMT {
	case unix.S_IFREG, 0:
	case unix.S_IFIFO:
		kind = fs.ModeNamedPipe
	case unix.S_IFSOCK:
		kind = fs.ModeSocket
	default:
		return fuse.EPERM
	}
	mode := plainMode(in.Mode, false)
	return c.make(&in.InHeader, "mknod", name, kind, mode, out, func(dirfd int) error {
		return unix.Mknodat(dirfd, name, mode, 0)
	})
}

// Symlink is symlink(2). The target is free text: the link is followed
// inside the view.
func (c *connection) Symlink(_ <-chan struct{}, h *fuse.InHeader, target, name string, out *fuse.EntryOut) fuse.Status {
	if e := c.repeating(h); e != nil {
		return e.made(c, h, name, out)
	}
	kind := fs.ModeSymlink
	if c.isGitTrial(h.NodeId, name, target) {
		kind = 0
	}
	return c.make(h, "symlink", name, kind, 0, out, func(dirfd int) error {
		return unix.Symlinkat(target, dirfd, name)
	})
}

// make asks the rules, makes a new name by create, and answers with it.
func (c *connection) make(h *fuse.InHeader, call, name string, kind fs.FileMode, mode uint32, out *fuse.EntryOut, create func(dirfd int) error) fuse.Status {
	if !plainName(name) {
		return fuse.EINVAL
	}
	return c.asking(h, func(grant pathresolver.Grant) error {
		return c.makeGranted(h, call, name, kind, mode, out, create, grant)
	})
}

func (c *connection) makeGranted(h *fuse.InHeader, call, name string, kind fs.FileMode, mode uint32, out *fuse.EntryOut, create func(dirfd int) error, grant pathresolver.Grant) error {
	defer c.hold(name)()
	dir, dirfd, place, err := c.openDir(h.NodeId)
	if err != nil {
		return err
	}
	defer closeFD(dirfd)
	child := joinPlace(place, name)
	if err := reachable(child); err != nil {
		return err
	}
	if d := c.rules().DecideGranted(grant, access.OpCreate, child, kind); d != nil {
		return c.ask(h, call, d, grant, operation{op: access.OpCreate, place: child, kind: kind})
	}
	if err := c.as(h.Caller, func() error { return create(dirfd) }); err != nil {
		return c.notOwner(h, call, access.OpCreate, child, err, dirfd)
	}
	if kind == 0 {
		mode = c.hookMode(child, mode)
	}
	var sx unix.Statx_t
	if err := c.made(dirfd, name, mode, &sx); err != nil {
		return err
	}
	c.rules().NoteMade(child, kind, fileID(&sx))
	c.answer(dir, name, resolved.Verdict{Writable: true}, false, &sx, out)
	c.changed(access.OpCreate, child, sx.Mode)
	return nil
}

// made asks about what was made, after it has got the mode that it was to have.
func (c *connection) made(dirfd int, name string, mode uint32, sx *unix.Statx_t) error {
	if mode&c.umask == 0 { // of a link it is 0
		return fsat.Statx(dirfd, name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, statxMask, sx)
	}
	fd, err := fsat.Openat(dirfd, name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	return c.setMode(fd, mode, sx)
}

// Tmpfile is open(2) with O_TMPFILE: a file without a name in a directory
// that may be written. What name it gets later is decided by Link.
func (c *connection) Tmpfile(_ <-chan struct{}, in *fuse.CreateIn, out *fuse.CreateOut) fuse.Status {
	if c.repeating(&in.InHeader) != nil {
		return fuse.EIO
	}
	return c.asking(&in.InHeader, func(grant pathresolver.Grant) error {
		return holding(&in.InHeader, func(who uint32) error { return c.tmpfile(who, in, out, grant) })
	})
}

func (c *connection) tmpfile(who uint32, in *fuse.CreateIn, out *fuse.CreateOut, grant pathresolver.Grant) error {
	c.moves.RLock()
	defer c.moves.RUnlock()
	dir, place, err := c.locate(in.NodeId)
	if err != nil {
		return err
	}
	if d := c.rules().DecideGranted(grant, access.OpCreate, place, fs.ModeDir); d != nil {
		return c.ask(&in.InHeader, "tmpfile", d, grant, operation{op: access.OpCreate, place: place, kind: fs.ModeDir})
	}
	mode := plainMode(in.Mode&0o7777, false)
	var fd int
	err = c.as(in.Caller, func() (e error) {
		fd, e = c.rules().OpenPlace(place, int(in.Flags)&(keptFlags|unix.O_EXCL)|unix.O_TMPFILE, mode)
		return e
	})
	if err != nil {
		return c.walkError(dir, err)
	}
	var sx unix.Statx_t
	if err := c.setMode(fd, mode, &sx); err != nil {
		closeFD(fd)
		return err
	}
	n := c.tab.nameless(identityOf(&sx), unix.S_IFREG)
	c.entry(n, false, &sx, &out.EntryOut)
	c.answerOpen(n, fd, nil, who, true, nil, &out.OpenOut)
	return nil
}

// Create is open(2) with O_CREAT of a name that the kernel believes missing.
func (c *connection) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	if c.repeating(&in.InHeader) != nil {
		return fuse.EIO
	}
	if !plainName(name) {
		return fuse.EINVAL
	}
	return c.asking(&in.InHeader, func(grant pathresolver.Grant) error {
		return holding(&in.InHeader, func(who uint32) error { return c.create(who, in, name, out, grant) })
	})
}

func (c *connection) create(who uint32, in *fuse.CreateIn, name string, out *fuse.CreateOut, grant pathresolver.Grant) error {
	defer c.hold(name)()
	dir, place, err := c.locate(in.NodeId)
	if err != nil {
		return err
	}
	child := joinPlace(place, name)
	d := c.rules().DecideGranted(grant, access.OpCreate, child, 0)
	text := false
	if d != nil {
		var may bool
		if may, text = c.mayWrite(d, child); may {
			d = nil
		}
	}
	if d != nil {
		return c.ask(&in.InHeader, "create", d, grant, operation{op: access.OpCreate, place: child})
	}
	mode := c.hookMode(child, plainMode(in.Mode&0o7777, false))
	var fd int
	err = c.as(in.Caller, func() (e error) {
		fd, e = c.rules().OpenPlace(child, int(in.Flags)&keptFlags|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, mode)
		return e
	})
	if err == unix.EEXIST && in.Flags&unix.O_EXCL == 0 {
		return unix.ESTALE // the host was faster: the kernel looks again, and opens
	}
	if err != nil {
		return c.notOwnerAt(&in.InHeader, "create", access.OpCreate, child, place, c.walkError(dir, err))
	}
	var sx unix.Statx_t
	if err := c.setMode(fd, mode, &sx); err != nil {
		closeFD(fd)
		return err
	}
	c.rules().NoteMade(child, 0, fileID(&sx))
	n := c.answer(dir, name, resolved.Verdict{Writable: true}, false, &sx, &out.EntryOut)
	c.answerOpen(n, fd, nil, who, int(in.Flags)&unix.O_ACCMODE != unix.O_RDONLY, nil, &out.OpenOut)
	if text {
		c.holdText(n, out.Fh)
	}
	if grant != nil {
		c.opens.madeBy(out.Fh)
	}
	c.changed(access.OpCreate, child, sx.Mode)
	return nil
}
