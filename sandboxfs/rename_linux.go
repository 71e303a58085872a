package sandboxfs

import (
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

// Rename is renameat2(2) with RENAME_NOREPLACE or RENAME_EXCHANGE or neither.
func (c *connection) Rename(_ <-chan struct{}, in *fuse.RenameIn, oldName, newName string) fuse.Status {
	if !plainName(oldName) || !plainName(newName) || newName == fuseconn.PollName && in.Newdir == fuseconn.RootID {
		return fuse.EINVAL
	}
	if e := c.repeating(&in.InHeader); e != nil {
		return e.renamedName(c, in, oldName, newName)
	}
	if in.Flags&^(unix.RENAME_EXCHANGE|unix.RENAME_NOREPLACE) != 0 {
		return fuse.EINVAL // RENAME_WHITEOUT makes a device
	}
	return c.asking(&in.InHeader, func(grant pathresolver.Grant) error { return c.rename(in, oldName, newName, grant) })
}

func (c *connection) rename(in *fuse.RenameIn, oldName, newName string, grant pathresolver.Grant) error {
	exchange := in.Flags&unix.RENAME_EXCHANGE != 0
	c.moves.Lock()
	defer c.moves.Unlock()
	from, fromFD, fromPlace, err := c.openDir(in.NodeId)
	if err != nil {
		return err
	}
	defer closeFD(fromFD)
	to, toFD, toPlace := from, fromFD, fromPlace
	if in.Newdir != in.NodeId {
		if to, toFD, toPlace, err = c.openDir(in.Newdir); err != nil {
			return err
		}
		defer closeFD(toFD)
	}
	source, target := joinPlace(fromPlace, oldName), joinPlace(toPlace, newName)
	err = reachable(target)
	if err == nil && exchange {
		err = reachable(source)
	}
	if err != nil {
		return err
	}
	if d := c.rules().DecideRenameGranted(grant, source, target, exchange); d != nil {
		if d.Rule == pathresolver.RuleProtected && in.Flags == 0 && c.keepSame(nameKey{from, oldName}, fromFD, source, nameKey{to, newName}, toFD, target) {
			return nil
		}
		return c.ask(&in.InHeader, "rename", d, grant, operation{op: access.OpRename, place: source, to: target, exchange: exchange})
	}
	if err := c.lockAt(&in.InHeader, "rename", source, fromFD, oldName); err != nil {
		return err
	}
	checked, d, err := c.arrives(fromFD, oldName, source, toFD, newName, target, exchange)
	switch {
	case err != nil:
		return err
	case d != nil:
		return c.refuse(&in.InHeader, "rename", d)
	case checked:
		return c.renameChecked(in, nameKey{from, oldName}, fromFD, nameKey{to, newName}, toFD, source, target)
	}
	moving := c.tab.child(from, oldName)
	replaced := removal{fd: -1} // nothing
	// Where the kernel knows of nothing that would be replaced there is nothing to
	// hold, and one call less: 0.95 of the time. If that is not so after all, or the file
	// system does not know the flag, the rename is done as any other.
	tried := in.Flags == 0 && c.tab.child(to, newName) == nil
	if tried {
		err = unix.Renameat2(fromFD, oldName, toFD, newName, unix.RENAME_NOREPLACE)
	}
	if !tried || err != nil {
		replaced = c.beforeRemoval(to, toFD, newName)
		replaced.asked = grant != nil
		err = unix.Renameat2(fromFD, oldName, toFD, newName, uint(in.Flags))
	}
	if err == nil {
		c.moved(source, target, moving, exchange)
		c.tab.renamed(nameKey{from, oldName}, nameKey{to, newName}, exchange)
	}
	c.retain(replaced, err == nil && !exchange)
	return c.notOwner(&in.InHeader, "rename", access.OpRename, source, err, fromFD, toFD)
}

// Link is link(2): another name for a file that may be written, or the first
// name of one made with O_TMPFILE.
func (c *connection) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	if c.repeating(&in.InHeader) != nil {
		return fuse.EIO
	}
	if !plainName(name) {
		return fuse.EINVAL
	}
	return c.asking(&in.InHeader, func(grant pathresolver.Grant) error { return c.link(in, name, out, grant) })
}

func (c *connection) link(in *fuse.LinkIn, name string, out *fuse.EntryOut, grant pathresolver.Grant) error {
	c.moves.Lock() // no name of the file goes meanwhile
	defer c.moves.Unlock()
	n, err := c.node(in.Oldnodeid)
	if err != nil {
		return err
	}
	dir, dirfd, place, err := c.openDir(in.NodeId)
	if err != nil {
		return err
	}
	defer closeFD(dirfd)
	if err := reachable(joinPlace(place, name)); err != nil {
		return err
	}
	if n.typ != unix.S_IFREG {
		// Under its new name a link or a FIFO is what it would be if it were made there.
		if d := c.rules().DecideGranted(grant, access.OpCreate, joinPlace(place, name), fsat.FileMode(uint32(n.typ)).Type()); d != nil {
			return c.refuse(&in.InHeader, "link", d)
		}
	}
	fd, done, err := c.linkable(in, n, joinPlace(place, name), grant)
	if err != nil {
		return err
	}
	defer done()
	var before, sx unix.Statx_t
	if err := statNow(fd, &before); err != nil {
		return err
	}
	if uint32(before.Mode)&0o111 != 0 && c.rules().GitHook(joinPlace(place, name)) {
		return unix.EACCES
	}
	// By descriptor: the name could stand for another file by now.
	if err := unix.Linkat(unix.AT_FDCWD, procPath(fd), dirfd, name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return c.notOwner(&in.InHeader, "link", access.OpLink, joinPlace(place, name), err, dirfd)
	}
	if err := statNow(fd, &sx); err != nil {
		return err
	}
	c.noteLink(n, &before, &sx)
	c.tab.linked(n, dir, name, true)
	c.named(joinPlace(place, name), sx.Mode)
	c.entry(n, false, &sx, out)
	return nil
}

// noteLink notes a link, unless something else happened to the file meanwhile: if the
// host had taken its old name away, the earlier count would vouch for a name outside.
func (c *connection) noteLink(n *node, before, after *unix.Statx_t) {
	if after.Nlink != before.Nlink+1 {
		return
	}
	var now unix.Statx_t
	fd, place, err := c.open(n, unix.O_PATH, &now)
	if err != nil {
		return // made with O_TMPFILE, or gone
	}
	closeFD(fd)
	if place != "" && now.Nlink == after.Nlink {
		c.rules().NoteLink(fileID(before))
	}
}

// linkable asks the rules and returns a descriptor of the file.
func (c *connection) linkable(in *fuse.LinkIn, n *node, to string, grant pathresolver.Grant) (fd int, done func(), err error) {
	from, err := c.tab.place(n)
	if err == unix.ESTALE {
		h := c.opens.writableOf(n) // made with O_TMPFILE
		if h == nil {
			return -1, nil, unix.ENOENT
		}
		d := c.rules().DecideGranted(grant, access.OpLink, to, 0)
		if d == nil {
			d = c.rules().DecideGranted(grant, access.OpCreate, to, 0)
		}
		if d != nil {
			err = c.ask(&in.InHeader, "link", d, grant, operation{op: access.OpCreate, place: to})
		} else {
			var sx unix.Statx_t
			if err = statFD(h.fd, &sx); err == nil {
				err = c.checkLinks(&in.InHeader, "link", "", &sx)
			}
		}
		if err != nil {
			h.drop()
			return -1, nil, err
		}
		return h.fd, h.drop, nil
	}
	if err != nil {
		return -1, nil, err
	}
	if d := c.rules().DecideLinkGranted(grant, from, to); d != nil {
		return -1, nil, c.ask(&in.InHeader, "link", d, grant, operation{op: access.OpLink, place: from, to: to})
	}
	var sx unix.Statx_t
	fd, from, err = c.open(n, unix.O_PATH, &sx)
	if err != nil {
		return -1, nil, err
	}
	if d := c.rules().DecideLinkGranted(grant, from, to); d != nil { // another of its names
		closeFD(fd)
		return -1, nil, c.refuse(&in.InHeader, "link", d)
	}
	return fd, func() { closeFD(fd) }, nil
}
