package sandboxfs

import (
	"errors"
	"io"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Most of what large reads and writes cost in the server is copying: between
// the kernel and us, and between us and the file. Through a pipe (splice(2)) the
// kernel hands over pages, and they are copied once. A request that is no large
// write costs two more calls that way, so one is taken so only after a large
// write.
//
// The pages are those of the kernel's cache: where the host truncates the file
// meanwhile, and the view has noticed, what lay behind the end is zero in them.
// That is so from the write(2) on until the data is copied, by whatever means.

// largeData is the least data, in bytes, for which a pipe is worth it.
const largeData = 64 << 10

// errNotPiped is what ReadPipe says of what Read does better.
var errNotPiped = errors.New("not by a pipe")

// piped is a file system that takes and gives data in pipes.
type piped interface {
	// WritePipe is Write of all that is in data.
	WritePipe(in *fuse.WriteIn, data *pipe) (uint32, fuse.Status)
	// ReadPipe is Read into an empty pipe, behind what head says to put before
	// so many bytes. After an error, of whatever kind, Read is what counts.
	ReadPipe(in *fuse.ReadIn, data *pipe, head func(size int) []byte) error
}

// fill has the next request in the pipe.
func (q *pipe) fill(fd int) error {
	size, err := unix.Splice(fd, nil, q.w, nil, largeRequest+structRoom, 0)
	q.left = int(max(size, 0))
	return err
}

// unpack is the request that fill has put into p, which it takes over. The data
// of a large write stays in the pipe; anything else gives it back.
func (c *connection) unpack(p *pipe, buf []byte) (request, error) {
	size := p.left
	head := buf[:min(size, int(unsafe.Sizeof(fuse.WriteIn{})))]
	err := p.read(head)
	if q := newRequest(head, buf); err == nil && q.isWrite(p.left) && p.left >= largeData {
		q.data, p.room = p, buf[structRoom:]
		return q, nil
	}
	c.large.Store(false)
	if err == nil {
		err = p.read(buf[len(head):size])
	}
	c.pipes.put(p)
	return newRequest(buf[:size], buf), err
}

// answerPiped answers a large read, and reports whether it did. What fails is
// left to who reads into memory, which also tells why.
func (c *connection) answerPiped(q request, in *fuse.ReadIn) bool {
	if in.Size < largeData || c.piped == nil || c.unpiped.Load() {
		return false
	}
	p := c.pipes.get()
	if p == nil {
		return false
	}
	defer c.pipes.put(p)
	err := c.piped.ReadPipe(in, p, func(size int) []byte {
		q.finish(size, fuse.OK)
		return q.room[:outHeaderSize]
	})
	if err == nil {
		err = p.give(c.fd)
	}
	switch err {
	case nil, unix.ENOENT, unix.ENODEV: // who asked has it, or does not want it any more
		return true
	case errNotPiped, io.ErrUnexpectedEOF:
	default:
		c.unpiped.Store(true) // splice may be refused (seccomp), or not be had of this file system
	}
	return false
}
