package sandboxfs

import (
	"encoding/binary"
	"syscall"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// What a connection tells the kernel without being asked. See linux/fuse.h.
const (
	notifyInvalInode = 2
	notifyInvalEntry = 3

	backingOpen  = 0x4010e501 // FUSE_DEV_IOC_BACKING_OPEN
	backingClose = 0x4004e502 // FUSE_DEV_IOC_BACKING_CLOSE
)

// control calls f while the descriptor is sure to be open.
func (c *connection) control(f func(fd uintptr) syscall.Errno) syscall.Errno {
	e := unix.EBADF
	_ = c.raw.Control(func(fd uintptr) { e = f(fd) })
	return e
}

// connected reports whether the kernel still has the connection.
func (c *connection) connected() bool {
	return c.control(func(dev uintptr) syscall.Errno {
		for {
			is := []unix.PollFd{{Fd: int32(dev)}} // POLLERR comes unasked
			n, err := unix.Poll(is, 0)
			if err == nil && n == 0 {
				return 0
			}
			if err != unix.EINTR {
				return unix.ENOTCONN
			}
		}
	}) == 0
}

// registerBacking gives the kernel a file to read and write by itself.
func (c *connection) registerBacking(fd int) (id int32, e syscall.Errno) {
	in := fuse.BackingMap{Fd: int32(fd)}
	e = c.control(func(dev uintptr) syscall.Errno {
		r, _, e := unix.Syscall(unix.SYS_IOCTL, dev, backingOpen, uintptr(unsafe.Pointer(&in)))
		id = int32(r)
		return e
	})
	return id, e
}

func (c *connection) unregisterBacking(id int32) {
	_ = c.control(func(dev uintptr) syscall.Errno {
		_, _, e := unix.Syscall(unix.SYS_IOCTL, dev, backingClose, uintptr(unsafe.Pointer(&id)))
		return e
	})
}

// forgetName has the kernel forget the name of a directory's entry.
func (c *connection) forgetName(dir uint64, name string) {
	b := make([]byte, outHeaderSize+16, outHeaderSize+16+len(name)+1)
	binary.NativeEndian.PutUint64(b[16:], dir)
	binary.NativeEndian.PutUint32(b[24:], uint32(len(name)))
	c.notify(notifyInvalEntry, append(append(b, name...), 0))
}

// forgetInode has the kernel forget attributes and data of a file.
func (c *connection) forgetInode(id uint64) {
	b := make([]byte, outHeaderSize+24) // offset and length 0: everything
	binary.NativeEndian.PutUint64(b[16:], id)
	c.notify(notifyInvalInode, b)
}

// notify tells the kernel something that it did not ask. It fails with ENOENT
// where the kernel does not know what it is about, which is as well.
func (c *connection) notify(code uint32, b []byte) {
	binary.NativeEndian.PutUint32(b[0:], uint32(len(b)))
	binary.NativeEndian.PutUint32(b[4:], code)
	_ = c.control(func(dev uintptr) syscall.Errno {
		_, err := unix.Write(int(dev), b)
		e, _ := err.(syscall.Errno)
		return e
	})
}
