package sandboxfs

import (
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
)

// notOwner tells of err if the system refused what root could have done with its
// capabilities, since one of the files belongs to another user. It returns err. A
// descriptor less than 0 is none.
func (c *connection) notOwner(h *fuse.InHeader, call string, op access.Op, place string, err error, files ...int) error {
	if !c.lacksRights(err) {
		return err
	}
	for _, fd := range files {
		var sx unix.Statx_t
		if fd >= 0 && statFD(fd, &sx) == nil && sx.Uid != c.self.UID {
			return c.lacked(h, call, op, place, RuleNotOwner, err)
		}
	}
	return err
}

// notOwnerAt is notOwner for the file at a place, which could not be opened.
func (c *connection) notOwnerAt(h *fuse.InHeader, call string, op access.Op, place, file string, err error) error {
	if !c.lacksRights(err) {
		return err
	}
	fd, failed := c.rules().OpenPlace(file, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if failed != nil {
		return err
	}
	defer closeFD(fd)
	return c.notOwner(h, call, op, place, err, fd)
}

// notChanged is notOwner for a change of a file's owner, mode or times.
func (c *connection) notChanged(in *fuse.SetAttrIn, n *node, fd int, err error) error {
	if !c.lacksRights(err) {
		return err
	}
	place, failed := c.tab.place(n)
	switch {
	case failed != nil: // removed
		return err
	case in.Valid&(fuse.FATTR_UID|fuse.FATTR_GID) != 0:
		return c.lacked(&in.InHeader, "setattr", access.OpMeta, place, RuleChown, err)
	}
	return c.notOwner(&in.InHeader, "setattr", access.OpMeta, place, err, fd)
}

// lacksRights reports whether err may be for a right that root has outside of the view.
func (c *connection) lacksRights(err error) bool {
	return (err == unix.EACCES || err == unix.EPERM) && c.v.o.Unprivileged && c.self.UID == 0
}

func (c *connection) lacked(h *fuse.InHeader, call string, op access.Op, place string, rule access.Code, err error) error {
	e := err.(unix.Errno)
	c.v.refusals.add(Refusal{Time: time.Now(), PID: h.Pid, UID: h.Uid, Op: op, Place: place, Rule: rule, Errno: e, Syscall: call})
	return err
}
