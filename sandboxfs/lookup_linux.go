package sandboxfs

import (
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// Lookup answers what a name in a directory is. Here the rules are asked:
// a hidden name is not there, whenever it was made.
func (c *connection) Lookup(_ <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	if !plainName(name) {
		return fuse.ENOENT
	}
	if e := c.repeating(h); e != nil {
		if st, ok := e.lookup(c, h, name, out); ok {
			return st
		}
	}
	return c.lookup(h, name, out)
}

// lookup answers what stands at a name.
func (c *connection) lookup(h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	c.moves.RLock()
	defer c.moves.RUnlock()
	dir, place, err := c.locate(h.NodeId)
	if err != nil {
		return status(err)
	}
	verdict := c.rules().VerdictIn(place, name)
	child := joinPlace(place, name)
	if verdict.Hidden {
		return c.hidden(h, child, out)
	}
	if n := c.tab.fixedChild(dir, name); n != nil {
		return c.answerFixed(n, out)
	}
	if c.ReadOnly && verdict.AskRead {
		// It was made since the view was arranged. The kernel would not ask for
		// opens of it, so that no grant could be withdrawn.
		_ = c.refuseRead(h, "lookup", child)
		return fuse.EACCES
	}
	in, err := c.cachedDirOf(dir, place)
	if err != nil {
		return status(err)
	}
	defer in.drop()
	watched := c.watch.add(dir, in.fd, &in.sx)
	var sx unix.Statx_t
	err = c.statIn(in, child, name, &sx)
	if err == unix.ENOENT {
		out.SetEntryTimeout(c.valid(watched)) // node id 0: the kernel may remember that it is missing
		return fuse.OK
	}
	if err != nil {
		return status(err)
	}
	if verdict.TraverseOnly && sx.Mode&unix.S_IFMT != unix.S_IFDIR {
		return c.hidden(h, child, out)
	}
	c.answer(dir, name, verdict, watched, &sx, out)
	return fuse.OK
}

// hidden answers for a name that does not exist for the caller.
func (c *connection) hidden(h *fuse.InHeader, place string, out *fuse.EntryOut) fuse.Status {
	if d := c.rules().DecideLook(place); d != nil {
		_ = c.refuse(h, "lookup", d)
	}
	out.SetEntryTimeout(c.valid(true))
	return fuse.OK
}

// statIn asks about a name in a directory. What is mounted on it is for the
// resolver to say.
func (c *connection) statIn(in *cachedDir, place, name string, sx *unix.Statx_t) error {
	err := fsat.Statx(in.fd, name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, statxMask, sx)
	if err != nil || sameMount(sx, &in.sx) {
		return err
	}
	fd, err := c.rules().OpenPlace(place, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return c.walkError(in.node, err)
	}
	defer closeFD(fd)
	return statFD(fd, sx)
}

// answer tells the kernel of a file that was found at name in dir.
func (c *connection) answer(dir *node, name string, v resolved.Verdict, watched bool, sx *unix.Statx_t, out *fuse.EntryOut) *node {
	typ := sx.Mode & unix.S_IFMT
	// A masked name has a node of its own, whose pages are stand-ins.
	linked := !c.ReadOnly && sx.Nlink > 1 && typ != unix.S_IFDIR && !v.Masked
	n := c.tab.found(dir, name, identityOf(sx), typ, linked, !c.ReadOnly && v.Writable)
	if v.Masked && typ == unix.S_IFREG {
		n.masked.Store(&name)
	}
	c.entry(n, watched, sx, out)
	if e := c.v.events.Load(); e != nil && typ == unix.S_IFDIR {
		e.watch(c, n)
	}
	return n
}

// entry fills in the answer for a node of which a lookup was counted.
func (c *connection) entry(n *node, watched bool, sx *unix.Statx_t, out *fuse.EntryOut) {
	out.NodeId, out.Generation = n.id, 1
	n.told.note(sx)
	c.fill(sx, &out.Attr)
	out.SetEntryTimeout(c.valid(watched))
	out.SetAttrTimeout(c.valid(watched))
}

// answerFixed answers for a directory that leads to a nested mount. It is
// there for the kernel even while it is missing on the host, or the mount
// beneath it would be detached: asking for its attributes then tells.
func (c *connection) answerFixed(n *node, out *fuse.EntryOut) fuse.Status {
	var sx unix.Statx_t
	fd, _, err := c.open(n, unix.O_PATH, &sx)
	if err == nil {
		closeFD(fd)
		c.entry(n, false, &sx, out)
		return fuse.OK
	}
	out.NodeId, out.Generation = n.id, 1
	out.Mode, out.Nlink = uint32(n.typ)|0o555, 1
	return fuse.OK
}

// Forget drops what the kernel no longer remembers.
func (c *connection) Forget(id, count uint64) {
	c.tab.forget(id, count)
}
