package sandboxfs

import (
	"os"
	"strconv"
	"strings"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// node finds the node of a request.
func (c *connection) node(id uint64) (*node, error) {
	c.requests.Add(1)
	if n := c.tab.get(id); n != nil && !c.hiddenSince(n) {
		return n, nil
	}
	return nil, unix.ESTALE
}

// locate finds the node of a request and where it is.
func (c *connection) locate(id uint64) (*node, string, error) {
	n, err := c.node(id)
	if err != nil {
		return nil, "", err
	}
	place, err := c.tab.place(n)
	return n, place, err
}

// open opens the file of a node anew, by one walk that follows no link, and makes sure
// that it is the file that the kernel was told of. It also returns the place: the one
// of n's names that led there, or "" for a file that was removed through the view.
// c.moves is held.
func (c *connection) open(n *node, flags int, sx *unix.Statx_t) (fd int, place string, err error) {
	if place, err = c.tab.place(n); err != nil {
		fd, err = c.reopenUnlinked(n, flags, sx)
		return fd, "", err
	}
	if fd, err = c.openAt(n, place, flags, sx); err == nil || err != unix.ENOENT && err != unix.ESTALE {
		return fd, place, err
	}
	for _, other := range c.tab.places(n) {
		if other == place {
			continue
		}
		if fd, e := c.openAt(n, other, flags, sx); e == nil {
			return fd, other, nil
		}
	}
	return -1, place, err
}

func (c *connection) openAt(n *node, place string, flags int, sx *unix.Statx_t) (int, error) {
	if flags&unix.O_PATH == 0 { // openat2 takes no flag that has no meaning
		flags |= unix.O_NONBLOCK | unix.O_NOCTTY
	}
	fd, err := c.rules().OpenPlace(place, flags|unix.O_NOFOLLOW, 0)
	if err != nil {
		return -1, c.walkError(n, err)
	}
	if err = fsat.Statx(fd, "", unix.AT_EMPTY_PATH, statxMask, sx); err == nil {
		err = c.same(n, sx)
	}
	if err != nil {
		closeFD(fd)
		return -1, err
	}
	return fd, nil
}

// same compares what was opened with what n stands for. Fixed nodes are
// places, whatever directory stands there.
func (c *connection) same(n *node, sx *unix.Statx_t) error {
	typ := sx.Mode & unix.S_IFMT
	switch {
	case n.fixed.Load() && typ == n.typ:
		return nil
	case n.fixed.Load() && typ == unix.S_IFLNK:
		return unix.EACCES // replaced by a link, which is not followed
	case n.fixed.Load():
		return unix.ENOTDIR
	case typ != n.typ || c.tab.ident(n) != identityOf(sx):
		return unix.ESTALE
	}
	return nil
}

// walkError is the error for the kernel when the walk to a node failed. After ESTALE
// the kernel looks the path up once more, name by name.
func (c *connection) walkError(n *node, err error) error {
	switch err {
	case unix.EXDEV: // something was mounted there on the host
		return unix.EACCES
	case unix.ELOOP: // a directory on the way has become a link
		if n.fixed.Load() {
			return unix.EACCES
		}
		return unix.ESTALE
	case unix.ENOTDIR:
		if !n.fixed.Load() {
			return unix.ESTALE
		}
	}
	return err
}

// look opens the file of a request only to look at it, and runs do on that. All
// operations that ask about a file and change nothing use it.
func (c *connection) look(id uint64, do func(n *node, fd int, place string) error) fuse.Status {
	c.moves.RLock()
	defer c.moves.RUnlock()
	n, err := c.node(id)
	if err != nil {
		return status(err)
	}
	var sx unix.Statx_t
	fd, place, err := c.open(n, unix.O_PATH, &sx)
	if err != nil {
		return status(err)
	}
	defer closeFD(fd)
	return status(do(n, fd, place))
}

// openDir opens the directory of a request to make, move or remove a name in
// it. c.moves is held.
func (c *connection) openDir(id uint64) (dir *node, fd int, place string, err error) {
	if dir, err = c.node(id); err != nil {
		return nil, -1, "", err
	}
	var sx unix.Statx_t
	fd, place, err = c.open(dir, unix.O_PATH|unix.O_DIRECTORY, &sx)
	return dir, fd, place, err
}

// maxPlace is the longest place that the server can walk to, in bytes (PATH_MAX).
const maxPlace = unix.PathMax - 1

// reachable refuses to make a name that nobody could enter, list or open afterwards. The
// system call that makes it knows only the name itself.
func reachable(place string) error {
	if len(place) > maxPlace {
		return unix.ENAMETOOLONG
	}
	return nil
}

// plainName reports whether name is one component that names an entry.
func plainName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}

// namesBetween are the names that lead from dir down to place.
func namesBetween(dir, place string) []string {
	if dir != "." {
		place = place[len(dir)+1:]
	}
	return strings.Split(place, "/")
}

// status is err, a plain errno, as go-fuse wants it.
func status(err error) fuse.Status {
	switch err.(type) {
	case nil:
		return fuse.OK
	case *askFirst: // nobody has asked
		return fuse.EACCES
	}
	return fuse.ToStatus(err)
}

// processUmask reads the umask without changing it: it belongs to the whole
// process.
func processUmask() uint32 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0o777 // unknown: every mode is set again after creating
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "Umask:"); ok {
			if mask, err := strconv.ParseUint(strings.TrimSpace(value), 8, 32); err == nil {
				return uint32(mask)
			}
		}
	}
	return 0o777
}
