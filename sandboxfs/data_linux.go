package sandboxfs

import (
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// ReadFile is read(2). On the read-only mount there is no handle: the file is
// found by its place again, and must be the one that the kernel means.
func (c *connection) ReadFile(in *fuse.ReadIn) (fd int, release func(), st fuse.Status) {
	fd, release, err := c.readable(&in.InHeader, in.Fh)
	return fd, release, status(err)
}

// readable returns a descriptor to read from, and what to do after.
func (c *connection) readable(in *fuse.InHeader, fh uint64) (fd int, done func(), err error) {
	c.requests.Add(1)
	if !c.ReadOnly {
		h, err := c.opened(fh)
		if err != nil {
			return -1, nil, err
		}
		if h.shown != nil {
			return h.shown.fd, func() {}, nil
		}
		return h.fd, func() {}, nil
	}
	c.moves.RLock()
	defer c.moves.RUnlock()
	n, err := c.node(in.NodeId)
	if err != nil {
		return -1, nil, err
	}
	if n.typ != unix.S_IFREG {
		return -1, nil, unix.EACCES
	}
	var sx unix.Statx_t
	fd, place, err := c.open(n, unix.O_RDONLY, &sx)
	if err != nil {
		return -1, nil, err
	}
	// What has to be asked for lies on other mounts, but for another spelling.
	if err := c.refuseRead(in, "read", place); err != nil {
		closeFD(fd)
		return -1, nil, err
	}
	shown, err := c.shown(in, "read", n, fd)
	if err != nil || shown != nil {
		closeFD(fd)
	}
	switch {
	case err != nil:
		return -1, nil, err
	case shown != nil:
		return shown.fd, func() { c.v.masks.drop(shown) }, nil
	}
	return fd, func() { closeFD(fd) }, nil
}

// Write is write(2) of a file whose data goes through the server.
func (c *connection) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	c.requests.Add(1)
	h, err := c.opens.get(in.Fh)
	if err == nil && in.WriteFlags&fuse.WRITE_CACHE == 0 && c.hiddenSince(h.node) {
		err = unix.ESTALE // but what was written to a map before is not lost
	}
	if err != nil {
		return 0, status(err)
	}
	if h.text {
		size, err := c.writeText(in, h, data)
		return size, status(err)
	}
	if in.WriteFlags&fuse.WRITE_KILL_SUIDGID != 0 {
		if err := c.killPrivileges(h.fd); err != nil {
			return 0, status(err)
		}
	}
	// The kernel believes to know where the file ends; the host may have
	// written since. Pages of a shared mapping have a place of their own.
	atEnd := in.Flags&unix.O_APPEND != 0 && in.WriteFlags&fuse.WRITE_CACHE == 0
	size, err := fsat.Pwrite(h.fd, data, int64(in.Offset), atEnd)
	return uint32(size), status(err)
}

// Fsync is fsync(2) and fdatasync(2).
func (c *connection) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	if c.ReadOnly {
		return fuse.OK // nothing was written here
	}
	h, err := c.opens.get(in.Fh)
	if err != nil {
		return status(err)
	}
	c.slow(&in.InHeader)
	if in.FsyncFlags&1 != 0 {
		return status(unix.Fdatasync(h.fd))
	}
	return status(unix.Fsync(h.fd))
}

// Fallocate is fallocate(2).
func (c *connection) Fallocate(_ <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	h, err := c.opened(in.Fh)
	if err != nil {
		return status(err)
	}
	if !h.writable || h.text {
		return fuse.EBADF
	}
	c.slow(&in.InHeader)
	return status(unix.Fallocate(h.fd, in.Mode, int64(in.Offset), int64(in.Length)))
}

// Lseek is lseek(2) with SEEK_DATA and SEEK_HOLE. The offset of the backing
// descriptor, which it moves, means nothing.
func (c *connection) Lseek(_ <-chan struct{}, in *fuse.LseekIn, out *fuse.LseekOut) fuse.Status {
	fd, done, err := c.readable(&in.InHeader, in.Fh)
	if err != nil {
		return status(err)
	}
	defer done()
	off, err := unix.Seek(fd, int64(in.Offset), int(in.Whence))
	out.Offset = uint64(off)
	return status(err)
}

// CopyFileRange is copy_file_range(2) between two files of this mount.
func (c *connection) CopyFileRange(_ <-chan struct{}, in *fuse.CopyFileRangeIn) (uint32, fuse.Status) {
	from, err := c.opened(in.FhIn)
	if err != nil {
		return 0, status(err)
	}
	to, err := c.opened(in.FhOut)
	if err != nil {
		return 0, status(err)
	}
	if to.text {
		return 0, fuse.EACCES
	}
	if from.shown != nil {
		return 0, fuse.Status(unix.EXDEV) // the kernel copies by reading and writing
	}
	const most = 1 << 30    // the answer has 32 bits
	const little = 64 << 10 // is copied so soon that others may wait for it
	var sx unix.Statx_t
	if err := statFD(from.fd, &sx); err != nil || min(in.Len, sx.Size) > little {
		c.slow(&in.InHeader)
	}
	offIn, offOut := int64(in.OffIn), int64(in.OffOut)
	size, err := unix.CopyFileRange(from.fd, &offIn, to.fd, &offOut, int(min(in.Len, most)), int(in.Flags))
	return uint32(max(size, 0)), status(err)
}

// Ioctl is ioctl(2): none is passed on. Among those of file systems are some
// that change flags or content whatever the descriptor allows.
func (c *connection) Ioctl(_ <-chan struct{}, _ *fuse.IoctlIn, _ []byte, _ *fuse.IoctlOut, _ []byte) fuse.Status {
	return fuse.Status(unix.ENOTTY)
}
