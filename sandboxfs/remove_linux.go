package sandboxfs

import (
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// maxGraves bounds the descriptors that are held for files without a name.
const maxGraves = 4096

// graves holds what was removed through the view while the kernel still knew
// of it: a program that had looked a name up just before another one replaced
// it opens the old file, as on any file system, instead of getting ESTALE.
// Each is an O_PATH descriptor, held until the kernel forgets the node, which
// for a file that has lost its last name is soon.
//
// What lies here was removed by somebody who might write that name. The file
// itself is written only when no other name of it is left (checkLinks).
type graves struct {
	mu sync.Mutex
	fd map[*node]int
}

// dying is what stands at a name before it is removed or replaced.
type dying struct {
	n  *node // nil if the kernel does not know of it
	fd int   // -1 if there is nothing
	sx unix.Statx_t

	asked bool // by leave, which was not given for what it held
}

func (p *part) dying(dir *node, dirfd int, name string) dying {
	var d dying
	var err error
	if d.fd, err = fsat.Openat(dirfd, name, unix.O_PATH|unix.O_NOFOLLOW, 0); err != nil {
		return dying{fd: -1}
	}
	if err := statFD(d.fd, &d.sx); err != nil {
		closeFD(d.fd)
		return dying{fd: -1}
	}
	if n := p.tab.child(dir, name); n != nil && p.tab.ident(n) == identityOf(&d.sx) {
		d.n = n
	}
	return d
}

// bury is called after the name was removed, or not: it notes that a hard link
// went, and keeps the descriptor if the node has no name and is still known.
func (p *part) bury(d dying, removed bool) {
	if d.fd < 0 {
		return
	}
	if removed && d.sx.Nlink > 1 && d.sx.Mode&unix.S_IFMT != unix.S_IFDIR {
		p.r.NoteUnlink(fileID(&d.sx))
	}
	p.graves.mu.Lock()
	defer p.graves.mu.Unlock()
	if _, there := p.graves.fd[d.n]; d.asked || d.n == nil || there || len(p.graves.fd) >= maxGraves || !p.tab.isNameless(d.n) {
		closeFD(d.fd)
		return
	}
	p.graves.fd[d.n] = d.fd
}

// exhume opens a file without a name anew.
func (p *part) exhume(n *node, flags int, sx *unix.Statx_t) (int, error) {
	p.graves.mu.Lock()
	defer p.graves.mu.Unlock()
	fd, ok := p.graves.fd[n]
	if !ok {
		return -1, unix.ESTALE
	}
	if n.typ == unix.S_IFLNK || flags&unix.O_PATH != 0 {
		fd, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return -1, err
		}
		return fd, statFD(fd, sx)
	}
	fd, err := fsat.Openat(unix.AT_FDCWD, procPath(fd), flags&^unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return -1, err
	}
	return fd, statFD(fd, sx)
}

// forgotten lets go of what is held for a node, once it is dropped.
func (p *part) forgotten(n *node) {
	p.stamps.forget(n)
	p.graves.mu.Lock()
	fd, ok := p.graves.fd[n]
	delete(p.graves.fd, n)
	p.graves.mu.Unlock()
	if ok {
		closeFD(fd) // may free the blocks of a large file
	}
}

func (g *graves) closeAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for n, fd := range g.fd {
		closeFD(fd)
		delete(g.fd, n)
	}
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
