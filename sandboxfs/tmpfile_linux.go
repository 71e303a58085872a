package sandboxfs

import (
	"io/fs"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Tmpfile is open(2) with O_TMPFILE: a file without a name in a directory
// that may be written. What name it gets later is decided by Link.
func (p *part) Tmpfile(_ <-chan struct{}, in *fuse.CreateIn, out *fuse.CreateOut) fuse.Status {
	st := p.tmpfile(in, out, nil)
	if st != toConsult {
		return st
	}
	leave, st := p.consult(&in.InHeader)
	if st != fuse.OK {
		return st
	}
	return p.tmpfile(in, out, leave)
}

func (p *part) tmpfile(in *fuse.CreateIn, out *fuse.CreateOut, leave pathresolver.Grant) fuse.Status {
	p.moves.RLock()
	defer p.moves.RUnlock()
	dir, place, err := p.locate(in.NodeId)
	if err != nil {
		return status(err)
	}
	if d := p.r.DecideGranted(leave, pathresolver.OpCreate, place, fs.ModeDir); d != nil {
		return p.ask(&in.InHeader, "tmpfile", d, leave, act{op: pathresolver.OpCreate, place: place, kind: fs.ModeDir})
	}
	mode := plainMode(in.Mode&0o7777, false)
	var fd int
	err = p.as(in.Caller, func() (e error) {
		fd, e = p.r.OpenPlace(place, int(in.Flags)&(keptFlags|unix.O_EXCL)|unix.O_TMPFILE, mode)
		return e
	})
	if err != nil {
		return status(p.walkError(dir, err))
	}
	var sx unix.Statx_t
	if err = p.setMode(fd, mode); err == nil {
		err = statFD(fd, &sx)
	}
	if err != nil {
		closeFD(fd)
		return status(err)
	}
	n := p.tab.nameless(identityOf(&sx))
	p.entry(n, false, &sx, &out.EntryOut)
	p.answerOpen(n, fd, true, nil, &out.OpenOut)
	return fuse.OK
}
