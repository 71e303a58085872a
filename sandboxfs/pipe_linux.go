package sandboxfs

import (
	"io"
	"sync"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// Most of what a large write costs in the server is copying: from the kernel to
// us, and from us to the file. Through a pipe (splice(2)) the kernel hands over
// its pages, and they are copied once. What is no large write costs two more
// calls that way, so it is taken only for what comes after a large write.
//
// The pages are those of the kernel's cache: where the host truncates the file
// meanwhile, and the view has noticed, what lay behind the end is zero in them.
// That is so from the write(2) on until the data is copied, by whatever means.

const (
	// largeWrite is the least data, in bytes, for which a pipe is worth it.
	largeWrite = 64 << 10
	// pipeSize has a slot for each page of the largest request, wherever in a
	// page its data begins, and for what stands before it.
	pipeSize = 2 * largeRequest
	// warmPipes is how many unused pipes a connection keeps.
	warmPipes = 2
)

// writer is a file system that takes the data of a write in a pipe.
type writer interface {
	// WritePipe is Write of all that is in data.
	WritePipe(in *fuse.WriteIn, data *pipe) (uint32, fuse.Status)
}

// pipes are those of a connection.
type pipes struct {
	mu   sync.Mutex
	free []*pipe
	none bool // one that is large enough was not to be had; it is not tried again
}

// pipe carries the data of one request.
type pipe struct {
	r, w int
	left int    // bytes that are in it
	room []byte // for those, where they cannot be spliced
}

// get returns an empty pipe, or nil.
func (p *pipes) get() *pipe {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := len(p.free) - 1; last >= 0 {
		q := p.free[last]
		p.free = p.free[:last]
		return q
	}
	if p.none {
		return nil
	}
	q, err := newPipe()
	p.none = err != nil
	return q
}

// put takes a pipe back, which is closed when it is not empty.
func (p *pipes) put(q *pipe) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q.room = nil
	if q.left > 0 || len(p.free) >= warmPipes {
		q.close()
		return
	}
	p.free = append(p.free, q)
}

// close closes those that are not used.
func (p *pipes) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.free {
		q.close()
	}
	p.free = nil
}

func newPipe() (*pipe, error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	q := &pipe{r: fds[0], w: fds[1]}
	if _, err := unix.FcntlInt(uintptr(q.w), unix.F_SETPIPE_SZ, pipeSize); err != nil {
		q.close()
		return nil, err
	}
	return q, nil
}

func (q *pipe) close() {
	closeFD(q.r)
	closeFD(q.w)
}

// read fills buf, which is no longer than what is left.
func (q *pipe) read(buf []byte) error {
	for len(buf) > 0 {
		n, err := unix.Read(q.r, buf)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0:
			return io.ErrUnexpectedEOF
		default:
			q.left -= n
			buf = buf[n:]
		}
	}
	return nil
}

// pwrite is fsat.Pwrite of what is left. What cannot be spliced (at the end of
// a file, or on a file system that has none of it), or fails, is written from
// memory, which also tells why.
func (q *pipe) pwrite(fd int, off int64, atEnd bool) (int, error) {
	done := 0
	for !atEnd && q.left > 0 {
		n, err := unix.Splice(q.r, nil, fd, &off, q.left, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			break
		}
		done += int(n)
		q.left -= int(n)
	}
	if q.left == 0 {
		return done, nil
	}
	rest := q.room[:q.left]
	err := q.read(rest)
	if err == nil {
		var n int
		n, err = fsat.Pwrite(fd, rest, off, atEnd)
		done += n
	}
	if done > 0 {
		err = nil // a short write
	}
	return done, err
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
	if q := newRequest(head, buf); err == nil && q.isWrite(p.left) && p.left >= largeWrite {
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
