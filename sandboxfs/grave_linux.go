package sandboxfs

import (
	"sync"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
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

// dying opens what is known under name in dir, before it is removed; -1 if
// the kernel does not know of it.
func (p *part) dying(dir *node, dirfd int, name string) (*node, int) {
	n := p.tab.child(dir, name)
	if n == nil {
		return nil, -1
	}
	fd, err := fsat.Openat(dirfd, name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, -1
	}
	var sx unix.Statx_t
	if err := statFD(fd, &sx); err != nil || p.tab.ident(n) != identityOf(&sx) {
		closeFD(fd)
		return nil, -1
	}
	return n, fd
}

// bury keeps fd for n if n has no name and is still known.
func (p *part) bury(n *node, fd int) {
	if n == nil {
		return
	}
	p.graves.mu.Lock()
	defer p.graves.mu.Unlock()
	if _, there := p.graves.fd[n]; there || len(p.graves.fd) >= maxGraves || !p.tab.isNameless(n) {
		closeFD(fd)
		return
	}
	p.graves.fd[n] = fd
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

// forgotten lets go of what was held for a node.
func (p *part) forgotten(n *node) {
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
