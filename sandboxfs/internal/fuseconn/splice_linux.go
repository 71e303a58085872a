package fuseconn

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

// fill has the next request in the pipe.
func (q *pipe) fill(fd int) error {
	size, err := unix.Splice(fd, nil, q.w, nil, MaxData+structRoom, 0)
	q.left = int(max(size, 0))
	return err
}

// unpack is the request that fill has put into p, which it takes over. The data
// of a large write stays in the pipe; anything else gives it back.
func (c *Conn) unpack(p *pipe, buf []byte) (request, error) {
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

// readFile answers a read. A size of 0 says that the answer is given already.
func (c *Conn) readFile(q request, in *fuse.ReadIn) (size int) {
	if int(in.Size) > len(q.room)-outHeaderSize {
		return q.fail(fuse.EIO)
	}
	fd, release, st := c.h.ReadFile(in)
	if st != fuse.OK {
		return q.fail(st)
	}
	defer release()
	buf, off := q.room[outHeaderSize:][:in.Size], int64(in.Offset)
	if len(buf) >= largeData && c.readPiped(q, fd, buf, off) {
		return 0
	}
	n, err := c.pread(in.Unique, fd, buf, off)
	return q.finish(n, statusOf(err))
}

// readPiped answers a read through a pipe, or reports that it did not. buf is
// scratch.
//
// It does so where the read need not wait for a disk. If both ends are in memory
// the rest most probably is, unless another read that looked so has not come to
// an end. Of a file system that cannot say so (readNow) data is read into memory:
// FUSE beneath, for one, splices pages of its own where a read would ask anew.
func (c *Conn) readPiped(q request, fd int, buf []byte, off int64) bool {
	if c.unpiped.Load() {
		return false
	}
	defer c.piping.Add(-1)
	if c.piping.Add(1) > 1 {
		return false
	}
	for _, at := range []int{0, len(buf) - 1} {
		if n, ok := c.readNow(fd, buf[at:at+1], off+int64(at)); !ok || n == 0 {
			return false
		}
	}
	p := c.pipes.get()
	if p == nil {
		return false
	}
	defer c.pipes.put(p)
	q.finish(len(buf), fuse.OK)
	if c.spliced(p.take(q.room[:outHeaderSize], fd, off, len(buf))) != nil {
		return false
	}
	switch err := p.give(c.fd); err {
	case nil, unix.ENOENT, unix.ENODEV: // the process has it, or does not want it any more
		return true
	default:
		c.unpiped.Store(true) // read it again
		return false
	}
}

// writeFile answers a write.
func (c *Conn) writeFile(q request, in *fuse.WriteIn) (size int) {
	data := Data{pipe: q.data}
	if q.data == nil {
		data.mem = q.in[unsafe.Sizeof(*in):]
		if !q.isWrite(len(data.mem)) {
			return q.fail(fuse.EIO)
		}
		c.large.Store(len(data.mem) >= largeData)
	}
	// Another write is being answered besides only if it takes long (or has just
	// handed over). Then this one may take long, too, and each that had to wait
	// for the watchdog would add that to the wait of the next request.
	defer c.writing.Add(-1)
	if c.writing.Add(1) > 1 {
		c.slow(in.Unique)
	}
	out := answerOf[fuse.WriteOut](q, &size)
	var st fuse.Status
	out.Size, st = c.h.WriteFile(in, data)
	return q.finish(size, st)
}

// statusOf is the status of an error, a plain errno.
func statusOf(err error) fuse.Status {
	if err == nil {
		return fuse.OK
	}
	return fuse.ToStatus(err)
}

// spliced is err, of a splice from a file. Where splice is refused (seccomp), or
// not to be had of a file system, it is not tried again.
func (c *Conn) spliced(err error) error {
	if err == unix.EPERM || err == unix.ENOSYS || err == unix.EINVAL {
		c.unpiped.Store(true)
	}
	return err
}
