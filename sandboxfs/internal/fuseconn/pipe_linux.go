package fuseconn

import (
	"io"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

const (
	// pipeSize has a slot for each page of the largest request, wherever in a
	// page its data begins, and for what stands before it.
	pipeSize = 2 * MaxData
	// maxPipes is how many a connection uses at a time. All of a user's pipes may
	// have 64 MiB (pipe(7)), and where they do those of others get small.
	maxPipes = 16
	// warmPipes is how many unused pipes a connection keeps.
	warmPipes = 2
)

// pipes are those of a connection.
type pipes struct {
	mu   sync.Mutex
	free []*pipe
	used int
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
	if p.used >= maxPipes {
		return nil
	}
	if last := len(p.free) - 1; last >= 0 {
		q := p.free[last]
		p.free = p.free[:last]
		p.used++
		return q
	}
	if p.none {
		return nil
	}
	q, err := newPipe()
	if err != nil {
		p.none = true
		return nil
	}
	p.used++
	return q
}

// put takes a pipe back, which is closed when it is not empty.
func (p *pipes) put(q *pipe) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used--
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
	_ = unix.Close(q.r)
	_ = unix.Close(q.w)
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

// take fills an empty pipe with head and size bytes of a file. Where the file
// has not that many any more it is io.ErrUnexpectedEOF, where they need more of
// the pipe than there is EAGAIN.
func (q *pipe) take(head []byte, fd int, off int64, size int) error {
	n, err := unix.Write(q.w, head) // there is room: never in part, nor interrupted
	if err != nil {
		return err
	}
	q.left = n
	for size > 0 {
		n, err := unix.Splice(fd, &off, q.w, nil, size, unix.SPLICE_F_NONBLOCK)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0:
			return io.ErrUnexpectedEOF
		default:
			q.left += int(n)
			size -= int(n)
		}
	}
	return nil
}

// give writes all that is in the pipe to fd at once.
func (q *pipe) give(fd int) error {
	for {
		n, err := unix.Splice(q.r, nil, fd, nil, q.left, 0)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		default:
			if q.left -= int(n); q.left > 0 {
				return io.ErrShortWrite
			}
			return nil
		}
	}
}
