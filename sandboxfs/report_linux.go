package sandboxfs

import (
	"io/fs"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// changed tells Options.OnChange, if there is one. c.moves is held, so that what
// is told names places in the order of the moves.
func (c *connection) changed(op access.Op, place string, mode uint16) {
	if tell := c.v.o.OnChange; tell != nil && place != "" {
		tell(Change{Op: op, Place: place, Mode: fsat.FileMode(uint32(mode))})
	}
}

// changedNode is changed for a node, wherever it is now.
func (c *connection) changedNode(op access.Op, n *node, mode uint16) {
	if c.v.o.OnChange == nil {
		return
	}
	if place, err := c.tab.place(n); err == nil {
		c.changed(op, place, mode)
	}
}

// moved is changed for a name that was moved to another, or exchanged with it.
func (c *connection) moved(from, to string, n *node, exchange bool) {
	tell := c.v.o.OnChange
	if tell == nil {
		return
	}
	mode := fs.ModeIrregular
	if n != nil {
		mode = fsat.FileMode(uint32(n.typ))
	}
	tell(Change{Op: access.OpRename, Place: from, To: to, Exchange: exchange, Mode: mode})
}

// named is changed for another name of a file.
func (c *connection) named(to string, mode uint16) {
	if tell := c.v.o.OnChange; tell != nil {
		tell(Change{Op: access.OpLink, To: to, Mode: fsat.FileMode(uint32(mode))})
	}
}

// refuse reports a refusal and returns its errno.
func (c *connection) refuse(h *fuse.InHeader, call string, d *pathresolver.DeniedError) error {
	e := errno(d.Rule)
	c.v.refusals.add(Refusal{
		Time: time.Now(), PID: h.Pid, UID: h.Uid, Op: d.Op, Place: d.Path,
		Rule: d.Rule, Pattern: d.Pattern, Origin: d.Origin, Errno: e, Syscall: call,
	})
	return e
}
