package sandboxfs

import (
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// maxUnlinked bounds the descriptors that are held for files without a name.
const maxUnlinked = 4096

// unlinked holds what was removed through the view while the kernel still knew of it.
// A program may have looked a name up just before another program replaced the file;
// it opens the old file then, as on any file system, and does not get ESTALE. Each is
// an O_PATH descriptor, held until the kernel forgets the node, which is soon for a
// file that has lost its last name.
//
// What is held here was removed by a program that might write that name. The file
// itself is written only when it has no other name left (checkLinks).
type unlinked struct {
	mu sync.Mutex
	fd map[*node]int
}

// removal is what stands at a name before it is removed or replaced.
type removal struct {
	n  *node        // nil if the kernel does not know of it
	fd int          // -1 if there is nothing; of another file than n if the host was faster
	sx unix.Statx_t // empty where no link is noted

	asked bool // removed by a grant, which did not cover what the file held
}

// beforeRemoval opens what is to be removed. What it is is looked at where somebody
// wants it back (reopenUnlinked), or a link may go: without that system call, and with
// a reader loop that does not ask for the time of day, an unlink takes 0.97 of the
// server's time.
func (c *connection) beforeRemoval(dir *node, dirfd int, name string) removal {
	var d removal
	var err error
	if d.fd, err = fsat.Openat(dirfd, name, unix.O_PATH|unix.O_NOFOLLOW, 0); err != nil {
		return removal{fd: -1}
	}
	if c.rules().HasLinkNotes() && statFD(d.fd, &d.sx) != nil {
		closeFD(d.fd)
		return removal{fd: -1}
	}
	d.n = c.tab.child(dir, name)
	return d
}

// retain is called after the name was removed, or not: it notes that a hard link
// went, and keeps the descriptor if the node has no name and is still known.
func (c *connection) retain(d removal, removed bool) {
	if d.fd < 0 {
		return
	}
	if removed && d.sx.Nlink > 1 && d.sx.Mode&unix.S_IFMT != unix.S_IFDIR {
		c.rules().NoteUnlink(fileID(&d.sx))
	}
	c.unlinked.mu.Lock()
	defer c.unlinked.mu.Unlock()
	if _, there := c.unlinked.fd[d.n]; d.asked || d.n == nil || there || len(c.unlinked.fd) >= maxUnlinked || !c.tab.isNameless(d.n) {
		closeFD(d.fd)
		return
	}
	if _, err := budget.take(0); err != nil {
		closeFD(d.fd)
		return
	}
	c.unlinked.fd[d.n] = d.fd
}

// reopenUnlinked opens a file without a name anew.
func (c *connection) reopenUnlinked(n *node, flags int, sx *unix.Statx_t) (int, error) {
	c.unlinked.mu.Lock()
	defer c.unlinked.mu.Unlock()
	fd, ok := c.unlinked.fd[n]
	if !ok {
		return -1, unix.ESTALE
	}
	if err := statFD(fd, sx); err != nil {
		return -1, err
	}
	if err := c.same(n, sx); err != nil {
		return -1, err
	}
	if n.typ == unix.S_IFLNK || flags&unix.O_PATH != 0 {
		return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	}
	fd, err := fsat.Openat(unix.AT_FDCWD, procPath(fd), flags&^unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return -1, err
	}
	return fd, statFD(fd, sx)
}

// forgotten frees what is held for a node, once it is dropped.
func (c *connection) forgotten(n *node) {
	c.stamps.forget(n)
	c.unlinked.mu.Lock()
	fd, ok := c.unlinked.fd[n]
	delete(c.unlinked.fd, n)
	c.unlinked.mu.Unlock()
	if ok {
		closeFD(fd) // may free the blocks of a large file
		budget.give(0)
	}
}

func (g *unlinked) closeAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for n, fd := range g.fd {
		closeFD(fd)
		budget.give(0)
		delete(g.fd, n)
	}
}

// Unlink is unlink(2).
func (c *connection) Unlink(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return c.remove(h, "unlink", name, 0)
}

// Rmdir is rmdir(2). Hidden entries keep a directory from being empty.
func (c *connection) Rmdir(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return c.remove(h, "rmdir", name, unix.AT_REMOVEDIR)
}

func (c *connection) remove(h *fuse.InHeader, call, name string, flags int) fuse.Status {
	if !plainName(name) {
		return fuse.EINVAL
	}
	if e := c.repeating(h); e != nil {
		return e.removed(c, h, name)
	}
	return c.asking(h, func(grant pathresolver.Grant) error { return c.removeGranted(h, call, name, flags, grant) })
}

func (c *connection) removeGranted(h *fuse.InHeader, call, name string, flags int, grant pathresolver.Grant) error {
	defer c.hold(name)()
	dir, dirfd, place, err := c.openDir(h.NodeId)
	if err != nil {
		return err
	}
	defer closeFD(dirfd)
	child := joinPlace(place, name)
	if d := c.rules().DecideGranted(grant, access.OpDelete, child, 0); d != nil {
		return c.ask(h, call, d, grant, operation{op: access.OpDelete, place: child})
	}
	if err := c.lockAt(h, call, child, dirfd, name); err != nil {
		return err
	}
	gone := c.beforeRemoval(dir, dirfd, name)
	gone.asked = grant != nil
	err = unix.Unlinkat(dirfd, name, flags)
	if err == nil {
		c.tab.removed(dir, name)
	}
	c.retain(gone, err == nil)
	return c.notOwner(h, call, access.OpDelete, child, err, dirfd)
}
