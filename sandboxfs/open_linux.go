package sandboxfs

import (
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

// keptFlags are the flags of open(2) that reach the backing file. O_APPEND is
// done per write, O_DIRECT would ask for aligned buffers, and O_TRUNC comes
// after the checks: a file that is refused must not be empty already.
const keptFlags = unix.O_ACCMODE | unix.O_SYNC | unix.O_DSYNC

// OpenFile is open(2) of a file that exists. The read-only part answers the first
// one with ENOSYS: from then on the kernel opens by itself.
func (p *part) OpenFile(in *fuse.OpenIn) (r fuseconn.Reply) {
	if p.ReadOnly {
		r.Status = fuse.ENOSYS
		return r
	}
	if r.Status = p.open1(in, &r.Open, nil); r.Status != toConsult {
		return r
	}
	if p.v.asks.wait != 0 {
		return p.openLater(in)
	}
	var leave pathresolver.Grant
	if leave, r.Status = p.consult(&in.InHeader); r.Status == fuse.OK {
		r.Status = p.open1(in, &r.Open, leave)
	}
	return r
}

// open1 is OpenFile with leave.
func (p *part) open1(in *fuse.OpenIn, out *fuse.OpenOut, leave pathresolver.Grant) fuse.Status {
	p.moves.RLock()
	defer p.moves.RUnlock()
	n, err := p.node(in.NodeId)
	if err != nil {
		return status(err)
	}
	writing := int(in.Flags)&unix.O_ACCMODE != unix.O_RDONLY || in.Flags&unix.O_TRUNC != 0
	var sx unix.Statx_t
	was := &sx
	fd, st := p.openFile(&in.InHeader, "open", n, int(in.Flags), writing, was, leave)
	if st != fuse.OK {
		return st
	}
	if in.Flags&unix.O_TRUNC != 0 {
		err := unix.Ftruncate(fd, 0)
		if err == nil && in.Mode&fuse.OPEN_KILL_SUIDGID != 0 {
			err = p.killPrivileges(fd)
		}
		if err != nil {
			closeFD(fd)
			return status(err)
		}
		was = nil
	}
	p.answerOpen(n, fd, int(in.Flags)&unix.O_ACCMODE != unix.O_RDONLY, was, out)
	if writing {
		p.holdText(n, out.Fh)
		p.changedNode(pathresolver.OpWrite, n, sx.Mode)
	}
	return fuse.OK
}

// openFile opens the regular file of n. The rules are asked first; where it is
// to be written its hard links are looked at after. Leave is for one place.
func (p *part) openFile(h *fuse.InHeader, call string, n *node, flags int, writing bool, sx *unix.Statx_t, leave pathresolver.Grant) (int, fuse.Status) {
	if n.typ != unix.S_IFREG {
		return -1, fuse.EACCES
	}
	at, err := p.tab.place(n)
	if err != nil && leave != nil {
		return -1, status(err) // it was given for a place
	}
	if err == nil {
		if st := p.decideOpen(h, call, n, at, flags, writing, leave); st != fuse.OK {
			return -1, st
		}
	}
	access := flags & keptFlags
	if flags&unix.O_TRUNC != 0 && access&unix.O_ACCMODE == unix.O_RDONLY {
		access |= unix.O_RDWR
	}
	fd, place, err := p.open(n, access, sx)
	if err == unix.ESTALE || err == unix.ENOENT {
		if fd, st := p.reopen(n, flags); st == fuse.OK {
			return fd, status(statFD(fd, sx))
		}
	}
	if err != nil {
		return -1, status(err)
	}
	if leave != nil && place != at {
		if st := p.decideOpen(h, call, n, place, flags, writing, leave); st != fuse.OK {
			closeFD(fd)
			return -1, st
		}
	}
	if writing {
		st := p.checkLinks(h, call, place, sx)
		if st == fuse.OK {
			st = p.checkLock(h, call, place, sx)
		}
		if st != fuse.OK {
			closeFD(fd)
			return -1, st
		}
		if err := p.disarm(fd, sx); err != nil {
			closeFD(fd)
			return -1, status(err)
		}
	}
	return fd, fuse.OK
}

// decideOpen asks the rules about opening a file. Those about reading count
// where any may have to be asked for.
func (p *part) decideOpen(h *fuse.InHeader, call string, n *node, place string, flags int, writing bool, leave pathresolver.Grant) fuse.Status {
	reads := p.r.AsksRead() && flags&unix.O_ACCMODE != unix.O_WRONLY
	a := act{op: pathresolver.OpWrite, place: place, reads: reads}
	switch {
	case writing:
	case reads:
		a = act{op: pathresolver.OpRead, place: place}
	default:
		return fuse.OK
	}
	d := a.decide(p.r, leave)
	if d == nil {
		return fuse.OK
	}
	if may, _ := p.mayWrite(d, place); may && writing {
		return fuse.OK
	}
	if d.Rule == pathresolver.RuleAsk && p.v.asks != nil {
		if st := p.futile(h, call, n, a); st != fuse.OK {
			return st
		}
	}
	return p.ask(h, call, d, leave, a)
}

// refuseRead asks the rules about content, where any may have to be asked for.
func (p *part) refuseRead(h *fuse.InHeader, call, place string) fuse.Status {
	if p.r.AsksRead() {
		if d := p.r.Decide(pathresolver.OpRead, place, 0); d != nil {
			return p.refuse(h, call, d)
		}
	}
	return fuse.OK
}

// disarm takes the set-user-id and set-group-id bits when a file is opened for
// writing with passthrough. Elsewhere they go with the first write, by who may
// not keep them; but with HANDLE_KILLPRIV_V2 the kernel leaves that to the
// server, whom it does not ask then (Linux 6.18).
func (p *part) disarm(fd int, sx *unix.Statx_t) error {
	if sx.Mode&(unix.S_ISUID|unix.S_ISGID) == 0 || !p.passes() {
		return nil
	}
	return p.killPrivileges(fd)
}

// reopen opens a file that is not where it was by a handle that is open, as a
// program does through /proc/self/fd. It never gives more than that handle has:
// where reading may have to be asked for, leave to write is none to read.
func (p *part) reopen(n *node, flags int) (int, fuse.Status) {
	writes := flags&unix.O_ACCMODE != unix.O_RDONLY || flags&unix.O_TRUNC != 0
	reads := p.r.AsksRead() && flags&unix.O_ACCMODE != unix.O_WRONLY
	h := p.opens.find(n, func(h *handle) bool { return (!writes || h.writable) && (!reads || h.readable()) })
	if h == nil {
		return -1, status(unix.ESTALE)
	}
	defer h.drop()
	fd, err := unix.Open(procPath(h.fd), flags&keptFlags|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	return fd, status(err)
}

// checkLinks refuses to change a file in place that has hard links elsewhere:
// writing would change them too. Of a file that was removed through the view
// every link that is left counts, since it was the name that might be written.
// Where the links are to be broken it puts a copy in its stead, and answers
// ESTALE: the kernel looks the name up again and finds the copy.
func (p *part) checkLinks(h *fuse.InHeader, call, place string, sx *unix.Statx_t) fuse.Status {
	switch {
	case sx.Mode&unix.S_IFMT == unix.S_IFDIR:
		return fuse.OK
	case place == "" && sx.Nlink > 0:
		return p.refuse(h, call, &pathresolver.DeniedError{
			Op: pathresolver.OpWrite, Path: "(removed)", Rule: pathresolver.RuleHardLink,
			Reason: "the name that might be written is gone, and the file has others"})
	case sx.Nlink <= 1:
		return fuse.OK
	}
	breakIt, d := p.r.CheckLinks(place, fileID(sx))
	switch {
	case d != nil:
		return p.refuse(h, call, d)
	case !breakIt:
		return fuse.OK
	}
	if err := p.r.BreakLinks(place); err != nil {
		return status(err)
	}
	return status(unix.ESTALE)
}

// Release is the last close(2) of an open file.
func (p *part) Release(_ <-chan struct{}, in *fuse.ReleaseIn) {
	p.opens.locks.released(in.Fh)
	p.opens.remove(in.Fh, p.unregister)
}
