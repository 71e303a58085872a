package sandboxfs

import (
	"bytes"
	"strings"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Extended attributes are read as the host has them, but for "trusted.",
// which is for the host's administrator. Only "user." is written: the others
// grant rights (security.capability, access lists) that a server running as
// root would give away in its own name.
const (
	userAttr    = "user."
	trustedAttr = "trusted."
)

// withAttrs runs do on a path that leads to the file of a request and to
// nothing else: an O_PATH descriptor, which is all that a link, a FIFO or an
// unreadable file can be opened for, has no extended attributes of its own.
func (c *connection) withAttrs(id uint64, do func(n *node, fd int, place string) error) error {
	c.moves.RLock()
	defer c.moves.RUnlock()
	n, err := c.node(id)
	if err != nil {
		return err
	}
	if h := c.opens.anyOf(n); h != nil {
		defer h.drop()
		place, err := c.tab.place(n)
		if err != nil && h.writable { // unlinked but open
			return do(n, h.fd, "")
		} else if err == nil {
			return do(n, h.fd, place)
		}
	}
	var sx unix.Statx_t
	fd, place, err := c.open(n, unix.O_PATH, &sx)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	return do(n, fd, place)
}

// GetXAttr is getxattr(2).
func (c *connection) GetXAttr(_ <-chan struct{}, h *fuse.InHeader, attr string, dest []byte) (size uint32, st fuse.Status) {
	if strings.HasPrefix(attr, trustedAttr) {
		return 0, fuse.ENODATA
	}
	// The kernel asks for security.capability before the first write to a file,
	// which is open then.
	if n := c.tab.get(h.NodeId); n != nil {
		if open := c.opens.anyOf(n); open != nil {
			defer open.drop()
			c.requests.Add(1)
			got, err := unix.Fgetxattr(open.fd, attr, dest)
			return uint32(max(got, 0)), status(err)
		}
	}
	err := c.withAttrs(h.NodeId, func(n *node, fd int, place string) error {
		if n.typ == unix.S_IFLNK {
			return unix.ENODATA
		}
		// A process that may read the file may read these (xattr(7)).
		if strings.HasPrefix(attr, userAttr) {
			if err := c.refuseRead(h, "getxattr", place); err != nil {
				return err
			}
		}
		got, err := unix.Getxattr(procPath(fd), attr, dest)
		size = uint32(max(got, 0))
		return err
	})
	return size, status(err)
}

// ListXAttr is listxattr(2).
func (c *connection) ListXAttr(_ <-chan struct{}, h *fuse.InHeader, dest []byte) (size uint32, st fuse.Status) {
	err := c.withAttrs(h.NodeId, func(n *node, fd int, _ string) error {
		if n.typ == unix.S_IFLNK {
			return nil
		}
		list, err := listAttrs(procPath(fd))
		if err != nil {
			return err
		}
		size = uint32(len(list))
		if len(dest) > 0 && len(dest) < len(list) {
			return unix.ERANGE
		}
		copy(dest, list)
		return nil
	})
	return size, status(err)
}

// listAttrs lists the names that the view shows.
func listAttrs(path string) ([]byte, error) {
	const mostNames = 1 << 16 // XATTR_LIST_MAX
	size, err := unix.Listxattr(path, nil)
	if err != nil || size == 0 {
		return nil, err
	}
	all := make([]byte, mostNames)
	if size, err = unix.Listxattr(path, all); err != nil {
		return nil, err
	}
	shown := all[:0:0]
	for name := range bytes.SplitAfterSeq(all[:size], []byte{0}) {
		if !bytes.HasPrefix(name, []byte(trustedAttr)) {
			shown = append(shown, name...)
		}
	}
	return shown, nil
}

// SetXAttr is setxattr(2).
func (c *connection) SetXAttr(_ <-chan struct{}, in *fuse.SetXAttrIn, attr string, data []byte) fuse.Status {
	if c.repeating(&in.InHeader) != nil {
		return fuse.EIO
	}
	flags := int(in.Flags)
	return c.changeAttr(&in.InHeader, "setxattr", attr, func(path string) error {
		return unix.Setxattr(path, attr, data, flags)
	})
}

// RemoveXAttr is removexattr(2).
func (c *connection) RemoveXAttr(_ <-chan struct{}, h *fuse.InHeader, attr string) fuse.Status {
	if c.repeating(h) != nil {
		return fuse.EIO
	}
	return c.changeAttr(h, "removexattr", attr, func(path string) error {
		return unix.Removexattr(path, attr)
	})
}

func (c *connection) changeAttr(h *fuse.InHeader, call, attr string, change func(path string) error) fuse.Status {
	return c.asking(h, func(grant pathresolver.Grant) error { return c.changeAttrGranted(h, call, attr, change, grant) })
}

func (c *connection) changeAttrGranted(h *fuse.InHeader, call, attr string, change func(path string) error, grant pathresolver.Grant) error {
	return c.withAttrs(h.NodeId, func(n *node, fd int, place string) error {
		if place != "" {
			if d := c.rules().DecideGranted(grant, access.OpMeta, place, 0); d != nil {
				return c.ask(h, call, d, grant, operation{op: access.OpMeta, place: place})
			}
		}
		var sx unix.Statx_t
		if err := statFD(fd, &sx); err != nil {
			return err
		}
		if err := c.checkLinks(h, call, place, &sx); err != nil {
			return err
		}
		if n.typ == unix.S_IFLNK || !strings.HasPrefix(attr, userAttr) {
			return unix.ENOTSUP
		}
		return change(procPath(fd))
	})
}
