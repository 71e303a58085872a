package sandboxfs

import (
	"io/fs"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Mkdir is mkdir(2).
func (p *part) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	mode := plainMode(in.Mode&0o7777, true)
	return p.make(&in.InHeader, "mkdir", name, fs.ModeDir, mode, out, func(dirfd int) error {
		return unix.Mkdirat(dirfd, name, mode)
	})
}

// Mknod is mknod(2) of a regular file, a FIFO or a socket. Devices are never
// made, nor the character device 0:0 by which overlayfs hides files.
func (p *part) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
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
	return p.make(&in.InHeader, "mknod", name, kind, mode, out, func(dirfd int) error {
		return unix.Mknodat(dirfd, name, mode, 0)
	})
}

// Symlink is symlink(2). The target is free text: whoever follows the link
// does so inside the view.
func (p *part) Symlink(_ <-chan struct{}, h *fuse.InHeader, target, name string, out *fuse.EntryOut) fuse.Status {
	kind := fs.ModeSymlink
	if p.isGitTrial(h.NodeId, name, target) {
		kind = 0
	}
	return p.make(h, "symlink", name, kind, 0, out, func(dirfd int) error {
		return unix.Symlinkat(target, dirfd, name)
	})
}

// make asks the rules, makes a new name by create, and answers with it.
func (p *part) make(h *fuse.InHeader, call, name string, kind fs.FileMode, mode uint32, out *fuse.EntryOut, create func(dirfd int) error) fuse.Status {
	if !plainName(name) {
		return fuse.EINVAL
	}
	st := p.makeGranted(h, call, name, kind, mode, out, create, nil)
	if st != toConsult {
		return st
	}
	leave, st := p.consult(h)
	if st != fuse.OK {
		return st
	}
	return p.makeGranted(h, call, name, kind, mode, out, create, leave)
}

func (p *part) makeGranted(h *fuse.InHeader, call, name string, kind fs.FileMode, mode uint32, out *fuse.EntryOut, create func(dirfd int) error, leave pathresolver.Grant) fuse.Status {
	defer p.hold(name)()
	dir, dirfd, place, err := p.openDir(h.NodeId)
	if err != nil {
		return status(err)
	}
	defer closeFD(dirfd)
	child := joinPlace(place, name)
	if d := p.r.DecideGranted(leave, pathresolver.OpCreate, child, kind); d != nil {
		return p.ask(h, call, d, leave, act{op: pathresolver.OpCreate, place: child, kind: kind})
	}
	if err := p.as(h.Caller, func() error { return create(dirfd) }); err != nil {
		return status(err)
	}
	if kind == 0 {
		mode = p.hookMode(child, mode)
	}
	var sx unix.Statx_t
	if err := p.made(dirfd, name, mode, &sx); err != nil {
		return status(err)
	}
	p.r.NoteMade(child, kind, fileID(&sx))
	p.answer(dir, name, true, false, &sx, out)
	p.changed(pathresolver.OpCreate, child, sx.Mode)
	return fuse.OK
}

// made asks about what was made, after it has got the mode that it was to have.
func (p *part) made(dirfd int, name string, mode uint32, sx *unix.Statx_t) error {
	if mode&p.umask == 0 { // of a link it is 0
		return fsat.Statx(dirfd, name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, statxMask, sx)
	}
	fd, err := fsat.Openat(dirfd, name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	if err := p.setMode(fd, mode); err != nil {
		return err
	}
	return statFD(fd, sx)
}

// Unlink is unlink(2).
func (p *part) Unlink(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return p.remove(h, "unlink", name, 0)
}

// Rmdir is rmdir(2). Hidden entries keep a directory from being empty.
func (p *part) Rmdir(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return p.remove(h, "rmdir", name, unix.AT_REMOVEDIR)
}

func (p *part) remove(h *fuse.InHeader, call, name string, flags int) fuse.Status {
	if !plainName(name) {
		return fuse.EINVAL
	}
	st := p.removeGranted(h, call, name, flags, nil)
	if st != toConsult {
		return st
	}
	leave, st := p.consult(h)
	if st != fuse.OK {
		return st
	}
	return p.removeGranted(h, call, name, flags, leave)
}

func (p *part) removeGranted(h *fuse.InHeader, call, name string, flags int, leave pathresolver.Grant) fuse.Status {
	defer p.hold(name)()
	dir, dirfd, place, err := p.openDir(h.NodeId)
	if err != nil {
		return status(err)
	}
	defer closeFD(dirfd)
	child := joinPlace(place, name)
	if d := p.r.DecideGranted(leave, pathresolver.OpDelete, child, 0); d != nil {
		return p.ask(h, call, d, leave, act{op: pathresolver.OpDelete, place: child})
	}
	if st := p.lockAt(h, call, child, dirfd, name); st != fuse.OK {
		return st
	}
	gone := p.dying(dir, dirfd, name)
	gone.asked = leave != nil
	err = unix.Unlinkat(dirfd, name, flags)
	if err == nil {
		p.tab.removed(dir, name)
	}
	p.bury(gone, err == nil)
	return status(err)
}

// Readlink shows a link as it is.
func (p *part) Readlink(_ <-chan struct{}, h *fuse.InHeader) (target []byte, st fuse.Status) {
	st = p.look(h.NodeId, func(_ *node, fd int, _ string) error {
		text, err := fsat.Readlink(fd)
		target = []byte(text)
		return err
	})
	return target, st
}
