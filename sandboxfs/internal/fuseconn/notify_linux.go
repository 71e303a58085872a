package fuseconn

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
func (c *Conn) control(f func(fd uintptr) syscall.Errno) syscall.Errno {
	e := unix.EBADF
	_ = c.raw.Control(func(fd uintptr) { e = f(fd) })
	return e
}

// RegisterBacking gives the kernel a file to read and write by itself.
func (c *Conn) RegisterBacking(fd int) (id int32, e syscall.Errno) {
	in := fuse.BackingMap{Fd: int32(fd)}
	e = c.control(func(dev uintptr) syscall.Errno {
		r, _, e := unix.Syscall(unix.SYS_IOCTL, dev, backingOpen, uintptr(unsafe.Pointer(&in)))
		id = int32(r)
		return e
	})
	return id, e
}

// UnregisterBacking gives back the kernel's id of a file. It fails only when the
// connection has ended, and the id with it.
func (c *Conn) UnregisterBacking(id int32) {
	_ = c.control(func(dev uintptr) syscall.Errno {
		_, _, e := unix.Syscall(unix.SYS_IOCTL, dev, backingClose, uintptr(unsafe.Pointer(&id)))
		return e
	})
}

// ForgetName has the kernel forget the name of a directory's entry.
func (c *Conn) ForgetName(dir uint64, name string) {
	b := make([]byte, outHeaderSize+16, outHeaderSize+16+len(name)+1)
	binary.NativeEndian.PutUint64(b[16:], dir)
	binary.NativeEndian.PutUint32(b[24:], uint32(len(name)))
	c.notify(notifyInvalEntry, append(append(b, name...), 0))
}

// ForgetInode has the kernel forget attributes and data of a file.
func (c *Conn) ForgetInode(id uint64) {
	b := make([]byte, outHeaderSize+24) // offset and length 0: everything
	binary.NativeEndian.PutUint64(b[16:], id)
	c.notify(notifyInvalInode, b)
}

// notify tells the kernel something that it did not ask about. ENOENT means that the
// kernel does not know the file, and is fine.
func (c *Conn) notify(code uint32, b []byte) {
	binary.NativeEndian.PutUint32(b[0:], uint32(len(b)))
	binary.NativeEndian.PutUint32(b[4:], code)
	_ = c.control(func(dev uintptr) syscall.Errno {
		_, err := unix.Write(int(dev), b)
		e, _ := err.(syscall.Errno)
		return e
	})
}
