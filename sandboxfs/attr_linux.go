package sandboxfs

import (
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// statxMask is what a view asks about a file.
const statxMask = unix.STATX_BASIC_STATS | unix.STATX_BTIME | unix.STATX_MNT_ID

func deviceOf(sx *unix.Statx_t) uint32 {
	return sx.Dev_major<<20 | sx.Dev_minor&(1<<20-1)
}

func identityOf(sx *unix.Statx_t) identity {
	id := identity{ino: sx.Ino, dev: deviceOf(sx)}
	if sx.Mask&unix.STATX_BTIME != 0 {
		id.born = uint32(sx.Btime.Sec)*31 ^ sx.Btime.Nsec
	}
	return id
}

// sameMount reports whether both surely lie on one mount.
func sameMount(a, b *unix.Statx_t) bool {
	return a.Mask&b.Mask&unix.STATX_MNT_ID != 0 && a.Mnt_id == b.Mnt_id
}

// inode is the inode number to show. All files of a connection seem to lie on
// one device, so those of another file system beneath the root are moved out
// of the way of the root's own.
func (c *connection) inode(ino uint64, dev uint32) uint64 {
	if dev == c.rootDev {
		return ino
	}
	return ino ^ uint64(dev)*0x9e3779b97f4a7c15
}

// fill copies the attributes of the backing file. Device numbers are left
// out: nothing that is opened in a view is a device.
func (c *connection) fill(sx *unix.Statx_t, out *fuse.Attr) {
	*out = fuse.Attr{
		Ino: c.inode(sx.Ino, deviceOf(sx)), Size: sx.Size, Blocks: sx.Blocks,
		Atime: uint64(sx.Atime.Sec), Atimensec: sx.Atime.Nsec,
		Mtime: uint64(sx.Mtime.Sec), Mtimensec: sx.Mtime.Nsec,
		Ctime: uint64(sx.Ctime.Sec), Ctimensec: sx.Ctime.Nsec,
		Mode: uint32(sx.Mode), Nlink: sx.Nlink,
		Owner:   fuse.Owner{Uid: sx.Uid, Gid: sx.Gid},
		Blksize: sx.Blksize,
	}
	if ids := c.v.o.SquashIDs; ids != nil {
		out.Owner = fuse.Owner{Uid: ids.UID, Gid: ids.GID}
	}
}

// GetAttr is stat(2) of something the kernel knows already.
func (c *connection) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	var sx unix.Statx_t
	valid, err := c.attributes(in.NodeId, &sx)
	if err != nil {
		return status(err)
	}
	c.fill(&sx, &out.Attr)
	out.SetTimeout(valid)
	return fuse.OK
}

// Statx is statx(2) where it asks for more than stat(2) tells.
func (c *connection) Statx(_ <-chan struct{}, in *fuse.StatxIn, out *fuse.StatxOut) fuse.Status {
	var sx unix.Statx_t
	valid, err := c.attributes(in.NodeId, &sx)
	if err != nil {
		return status(err)
	}
	out.FromStatx(&sx)
	out.Ino = c.inode(sx.Ino, deviceOf(&sx))
	out.DevMajor, out.DevMinor, out.RdevMajor, out.RdevMinor = 0, 0, 0, 0
	out.Attributes, out.AttributesMask = 0, 0
	out.Mask &= unix.STATX_BASIC_STATS | unix.STATX_BTIME
	if ids := c.v.o.SquashIDs; ids != nil {
		out.Uid, out.Gid = ids.UID, ids.GID
	}
	out.SetTimeout(valid)
	return fuse.OK
}

// attributes asks about the file of a request, and says how long the kernel
// may trust the answer.
func (c *connection) attributes(id uint64, sx *unix.Statx_t) (valid time.Duration, err error) {
	c.moves.RLock()
	defer c.moves.RUnlock()
	n, err := c.node(id)
	if err == nil {
		err = c.stat(n, sx)
	}
	if err != nil {
		return 0, err
	}
	n.told.note(sx)
	return c.valid(c.tab.watched(n)), nil
}

// stat asks about a node: by a file that is open, which is the only way when
// its name is gone, by its name, or by its place.
func (c *connection) stat(n *node, sx *unix.Statx_t) error {
	if !n.fixed.Load() { // a fixed node is a place, whatever is open
		if h := c.opens.anyOf(n); h != nil {
			defer h.drop()
			return statFD(h.fd, sx)
		}
		if c.statName(n, sx) == nil {
			return nil
		}
	}
	fd, _, err := c.open(n, unix.O_PATH, sx)
	if err == nil {
		closeFD(fd)
	}
	return err
}

// statName asks about a node by its first name, in a directory that was at its
// place just now, which is what a Lookup does as well.
func (c *connection) statName(n *node, sx *unix.Statx_t) error {
	dir, name := c.tab.nameOf(n)
	if dir == nil {
		return unix.ESTALE
	}
	place, err := c.tab.place(dir)
	if err != nil {
		return err
	}
	in, err := c.cachedDirOf(dir, place)
	if err != nil {
		return err
	}
	defer in.drop()
	if err := c.statIn(in, joinPlace(place, name), name, sx); err != nil {
		return err
	}
	return c.same(n, sx)
}

// StatFs is statfs(2).
func (c *connection) StatFs(_ <-chan struct{}, in *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	return c.look(in.NodeId, func(_ *node, fd int, _ string) error {
		var fs unix.Statfs_t
		if err := unix.Fstatfs(fd, &fs); err != nil {
			return err
		}
		*out = fuse.StatfsOut{
			Blocks: fs.Blocks, Bfree: fs.Bfree, Bavail: fs.Bavail, Files: fs.Files, Ffree: fs.Ffree,
			Bsize: uint32(fs.Bsize), NameLen: uint32(fs.Namelen), Frsize: uint32(fs.Frsize),
		}
		return nil
	})
}

// fileID is how the resolver knows a file whose hard links it counts.
func fileID(sx *unix.Statx_t) resolved.FileID {
	id := resolved.FileID{Dev: unix.Mkdev(sx.Dev_major, sx.Dev_minor), Ino: sx.Ino, Links: sx.Nlink}
	if sx.Mask&unix.STATX_BTIME != 0 {
		id.Born = sx.Btime.Sec*1e9 + int64(sx.Btime.Nsec)
	}
	return id
}

// Readlink shows a link as it is. One with a masked name that leads to what is not masked
// is refused: the values would be read through it.
func (c *connection) Readlink(_ <-chan struct{}, h *fuse.InHeader) (target []byte, st fuse.Status) {
	st = c.look(h.NodeId, func(_ *node, fd int, place string) error {
		text, err := fsat.Readlink(fd)
		if err == nil {
			err = c.refuseMaskedLink(h, place, text)
		}
		if err == nil {
			target = []byte(text)
		}
		return err
	})
	return target, st
}
