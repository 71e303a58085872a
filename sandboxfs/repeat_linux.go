package sandboxfs

import (
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

// The requests of the thread that repeats what the host has done (hostEvents). They are
// answered as if they were done. None of them does anything. No answer to the thread is
// to be believed later.

// repeatedOpen is the handle of files that the thread opens; there is nothing behind it.
const repeatedOpen = ^uint64(0)

// repeating returns who repeats, if a request comes from there.
func (c *connection) repeating(h *fuse.InHeader) *hostEvents {
	if e := c.v.events.Load(); e != nil && h.Pid == e.thread {
		e.seen.Store(true)
		return e
	}
	return nil
}

// of returns what is repeated, if it happens in c.
func (e *hostEvents) of(c *connection) *repetition {
	if r := e.now.Load(); r != nil && r.c == c {
		return r
	}
	return nil
}

// lookup answers for the names that are repeated: one that is made is not there yet,
// one that went still is. ok is false for any other.
func (e *hostEvents) lookup(c *connection, h *fuse.InHeader, name string, out *fuse.EntryOut) (st fuse.Status, ok bool) {
	r := e.of(c)
	if r == nil {
		return fuse.OK, false
	}
	first := h.NodeId == r.dir.id && name == r.Name
	switch {
	case r.Op == HostCreate && first:
		return fuse.ENOENT, true
	case r.Op == HostRename && !first && h.NodeId == r.to.id && name == r.ToName:
		if e.known(c, r.to, name, out) {
			return fuse.OK, true // who watches the file that was replaced hears that it went
		}
		return fuse.ENOENT, true
	case r.Op == HostRename && first:
		c.moves.RLock()
		defer c.moves.RUnlock()
		var sx unix.Statx_t
		if e.statAt(c, r.to, r.ToName, &sx) != nil {
			e.ghost(c, r, out)
			return fuse.OK, true
		}
		if n := c.tab.again(r.to, r.ToName); n != nil {
			if c.tab.ident(n) == identityOf(&sx) { // somebody has looked it up where it is now
				c.entry(n, false, &sx, out)
				out.SetEntryTimeout(0)
				return fuse.OK, true
			}
			c.tab.forget(n.id, 1)
		}
		c.answer(r.dir, name, verdictAt(c, r.to, r.ToName), false, &sx, out)
		out.SetEntryTimeout(0)
		return fuse.OK, true
	case r.Op == HostDelete && first:
		e.ghost(c, r, out)
		return fuse.OK, true
	}
	return fuse.OK, false
}

func (e *hostEvents) statAt(c *connection, dir *node, name string, sx *unix.Statx_t) error {
	place, err := c.tab.place(dir)
	if err != nil {
		return err
	}
	fd, err := c.rules().OpenPlace(joinPlace(place, name), unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	return statFD(fd, sx)
}

// current reports whether the kernel knows a name as what stands there now.
func (e *hostEvents) current(c *connection, dir *node, name string) bool {
	n := c.tab.child(dir, name)
	var sx unix.Statx_t
	return n != nil && e.statAt(c, dir, name, &sx) == nil && c.tab.ident(n) == identityOf(&sx)
}

// known answers with the file that stood at a name, if the kernel knows it and another
// one, or none, stands there by now. Who has it mapped or open keeps all of it: size and
// time are what they are, or what the kernel was told last.
func (e *hostEvents) known(c *connection, dir *node, name string, out *fuse.EntryOut) bool {
	n := c.tab.again(dir, name)
	if n == nil {
		return false
	}
	if n.fixed.Load() || e.current(c, dir, name) {
		c.tab.forget(n.id, 1)
		return false
	}
	e.gone(n, uint32(n.typ), out)
	out.Size, out.Nlink = uint64(n.told.size.Load()), uint32(max(1, len(c.tab.places(n))))
	mtime := time.Unix(0, n.told.mtime.Load())
	out.Mtime, out.Mtimensec = uint64(mtime.Unix()), uint32(mtime.Nanosecond())
	out.Ino = c.inode(n.ident.ino, n.ident.dev)
	if h := c.opens.anyOf(n); h != nil {
		var sx unix.Statx_t
		if statFD(h.fd, &sx) == nil {
			c.fill(&sx, &out.Attr)
			out.Nlink = sx.Nlink + 1 // the kernel is about to take one away
		}
		h.drop()
	}
	return true
}

// ghost answers with a file that is not there any more.
func (e *hostEvents) ghost(c *connection, r *repetition, out *fuse.EntryOut) {
	if !e.known(c, r.dir, r.Name, out) {
		e.gone(c.tab.nameless(identity{ino: ^uint64(0), dev: ^uint32(0)}, uint16(r.Mode)), r.Mode, out)
	}
}

// gone answers with a node of which only its type is known.
func (e *hostEvents) gone(n *node, typ uint32, out *fuse.EntryOut) {
	out.NodeId, out.Generation = n.id, 1
	out.Ino, out.Mode, out.Nlink = ^uint64(0)>>1, typ|0o700, 1
	out.Uid, out.Gid = e.v.o.Owner.UID, e.v.o.Owner.GID
}

// made answers a request that makes a name with what stands there.
func (e *hostEvents) made(c *connection, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	r := e.of(c)
	if r == nil || r.Op != HostCreate || h.NodeId != r.dir.id || name != r.Name {
		return fuse.EIO
	}
	st := c.lookup(h, name, out)
	if st == fuse.ENOENT || st.Ok() && (out.NodeId == 0 || out.Mode&unix.S_IFMT != r.Mode) {
		if out.NodeId != 0 {
			c.tab.forget(out.NodeId, 1)
		}
		*out = fuse.EntryOut{}
		e.ghost(c, r, out) // it is gone, or something else stands there by now
		st = fuse.OK
	}
	r.reached.Store(st.Ok())
	return st
}

// removed answers unlink(2) and rmdir(2).
func (e *hostEvents) removed(c *connection, h *fuse.InHeader, name string) fuse.Status {
	r := e.of(c)
	if r == nil || r.Op != HostDelete || h.NodeId != r.dir.id || name != r.Name {
		return fuse.EIO
	}
	c.moves.Lock()
	defer c.moves.Unlock()
	if !e.current(c, r.dir, name) {
		c.tab.removed(r.dir, name)
	}
	r.reached.Store(true)
	return fuse.OK
}

// renamedName answers rename(2).
func (e *hostEvents) renamedName(c *connection, in *fuse.RenameIn, name, toName string) fuse.Status {
	r := e.of(c)
	if r == nil || r.Op != HostRename || in.NodeId != r.dir.id || name != r.Name || in.Newdir != r.to.id || toName != r.ToName {
		return fuse.EIO
	}
	c.moves.Lock()
	defer c.moves.Unlock()
	if e.current(c, r.to, toName) {
		c.tab.removed(r.dir, name)
	} else {
		c.tab.renamed(nameKey{r.dir, name}, nameKey{r.to, toName}, false)
	}
	r.reached.Store(true)
	return fuse.OK
}

// attributes answers truncate(2) and chmod(2) with the file as it is.
func (e *hostEvents) attributes(c *connection, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	r := e.of(c)
	if r == nil || r.Op != HostModify && r.Op != HostAttrib {
		return fuse.EIO
	}
	var sx unix.Statx_t
	if _, err := c.attributes(in.NodeId, &sx); err != nil {
		return status(err)
	}
	c.fill(&sx, &out.Attr)
	r.reached.Store(true)
	return fuse.OK
}

// open answers open(2), of a file that is about to be closed.
func (e *hostEvents) open(c *connection) (reply fuseconn.Reply) {
	if r := e.of(c); r == nil || r.Op != HostClose {
		reply.Status = fuse.EIO
		return reply
	}
	// Without a page cache it is in nobody's way: where the kernel moves the data of a
	// file by itself, all who have it open do (passthrough).
	reply.Open.Fh, reply.Open.OpenFlags = repeatedOpen, fuse.FOPEN_DIRECT_IO
	return reply
}
