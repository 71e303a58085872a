package sandboxfs

import (
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
// meanwhile, what lay behind the end is zero in them. Of a write, where the view
// has noticed, that is so from the write(2) on until the data is copied, by
// whatever means; of a read, from the look at the file until its answer is given.

// largeData is the least data, in bytes, for which a pipe is worth it.
const largeData = 64 << 10

// piped is a file system that takes and gives data in pipes.
type piped interface {
	// WritePipe is Write of all that is in data.
	WritePipe(in *fuse.WriteIn, data *pipe) (uint32, fuse.Status)
	// ReadPiped is Read, but may have take do it instead.
	ReadPiped(in *fuse.ReadIn, buf []byte, take takes) (n int, piped bool, st fuse.Status)
}

// takes takes so many bytes of a file, which it has, or fails.
type takes func(fd int, off int64, size int) error

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

// readFile answers a read, the data of which may come from a pipe. The answer is then
// given already, and done.
func (c *connection) readFile(q request, in *fuse.ReadIn) (size int, done bool, st fuse.Status) {
	room := q.room[outHeaderSize:][:in.Size]
	if in.Size >= largeData && c.piped != nil && !c.unpiped.Load() {
		if p := c.pipes.get(); p != nil {
			defer c.pipes.put(p)
			size, done, st = c.piped.ReadPiped(in, room, func(fd int, off int64, size int) error {
				q.finish(size, fuse.OK)
				return c.spliced(p.take(q.room[:outHeaderSize], fd, off, size))
			})
			if !done {
				return size, false, st
			}
			switch err := p.give(c.fd); err {
			case nil, unix.ENOENT, unix.ENODEV: // who asked has it, or does not want it any more
				return 0, true, fuse.OK
			default:
				c.unpiped.Store(true) // read it again
			}
		}
	}
	data, st := c.fs.Read(nil, in, room)
	if st != fuse.OK {
		return 0, false, st
	}
	defer data.Done()
	from, st := data.Bytes(room)
	return copy(room, from), false, st
}

// spliced is err, of a splice from a file. Where splice is refused (seccomp), or
// not to be had of a file system, it is not tried again.
func (c *connection) spliced(err error) error {
	if err == unix.EPERM || err == unix.ENOSYS || err == unix.EINVAL {
		c.unpiped.Store(true)
	}
	return err
}
