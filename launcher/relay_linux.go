package launcher

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// relayBuffer is how much is moved at once, in bytes: a pipe's capacity.
const relayBuffer = 64 << 10

// relay moves bytes between the caller's streams and the command's.
type relay struct {
	stop    *os.File // its other end is closed to stop the readers of outer files
	stopped *os.File
	in, out sync.WaitGroup
	pause   *Pause                                     // of terminals; nil: never
	typed   func(keys []byte, give func() error) error // hands a terminal's keys on; nil: nobody looks at them

	mu     sync.Mutex
	failed []error // guarded by mu: output that could not be written
}

func newRelay() (*relay, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &relay{stop: w, stopped: r}, nil
}

// output copies from what the command writes until all of its writers are
// gone; written, if set, is shown it first. When it cannot be written outside, since
// nobody reads there any more, or a disk is full, the command is to get SIGPIPE, so the
// pipe is closed. What nobody reads is no failure.
func (r *relay) output(name string, from, to *os.File, written func([]byte)) {
	r.out.Go(func() {
		defer from.Close()
		var pause *Pause
		if isTerminal(int(to.Fd())) {
			pause = r.pause
		}
		buf := make([]byte, relayBuffer)
		for {
			n, err := from.Read(buf)
			if n > 0 {
				var failed error
				pause.writing(func() {
					if written != nil {
						written(buf[:n])
					}
					failed = writeAll(int(to.Fd()), buf[:n])
				})
				if failed != nil {
					if failed != unix.EPIPE {
						r.fail(fmt.Errorf("write %s: %w", name, failed))
					}
					return
				}
			}
			if err != nil {
				return // EOF, or EIO from a terminal without users
			}
		}
	})
}

func (r *relay) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = append(r.failed, err)
}

// writeAll writes to a file of the caller. It may be non-blocking, since
// others who share it can make it so.
func writeAll(fd int, data []byte) error {
	for len(data) > 0 {
		n, err := unix.Write(fd, data)
		switch err {
		case nil:
			data = data[n:]
		case unix.EINTR:
		case unix.EAGAIN:
			if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, -1); err != nil && err != unix.EINTR {
				return err
			}
		default:
			return err
		}
	}
	return nil
}

// input copies what the caller gives until its end. mayRead is asked before
// each read; while it says no, nothing is taken. unread, if set, is the
// command's end of the pipe: what it left there is given back.
func (r *relay) input(from, to, unread *os.File, mayRead func() bool) {
	r.in.Go(func() {
		start, seekErr := from.Seek(0, io.SeekCurrent)
		taken, left := r.copyIn(from, to, mayRead)
		to.Close()
		if unread == nil {
			return
		}
		// The command may go on reading until the run ends.
		_ = waitReadable(int(r.stopped.Fd()), -1)
		if n, err := unix.IoctlGetInt(int(unread.Fd()), unix.TIOCINQ); err == nil {
			left += int64(n)
		}
		unread.Close()
		if seekErr == nil {
			giveBack(from, start, taken, left)
		}
	})
}

// giveBack moves the position of a file that the caller shares with others,
// such as the script of a shell, back over what the command did not read. The
// command can write into its own pipe (/proc/self/fd/0), so what lies there is
// not to be believed: never more is given back than was taken, or it could
// have the shell go on in the middle of a line of its choice.
func giveBack(file *os.File, start, taken, left int64) {
	now, err := file.Seek(0, io.SeekCurrent)
	if err != nil || now != start+taken {
		return // somebody else has moved it
	}
	_, _ = file.Seek(start+taken-min(left, taken), io.SeekStart)
}

// copyIn returns how many bytes it took, and how many of those it could not
// deliver.
func (r *relay) copyIn(from, to *os.File, mayRead func() bool) (taken, left int64) {
	fd := int(from.Fd())
	buf := make([]byte, relayBuffer)
	for {
		if !r.ready(fd, mayRead) {
			return taken, 0
		}
		n, err := r.read(fd, buf)
		if err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		if err != nil || n == 0 {
			return taken, 0
		}
		taken += int64(n)
		done := 0
		give := func() (err error) {
			done, err = to.Write(buf[:n])
			return err
		}
		if r.typed != nil {
			err = r.typed(buf[:n], give)
		} else {
			err = give()
		}
		if err != nil {
			return taken, int64(n - done) // nobody reads any more
		}
	}
}

// read reads what ready has found. What was typed while the terminal was taken
// is gone by then: nothing waits for more with the terminal in hand.
func (r *relay) read(fd int, buf []byte) (n int, err error) {
	if r.pause == nil || !isTerminal(fd) {
		return unix.Read(fd, buf)
	}
	n, err = 0, unix.EAGAIN
	r.pause.reading(func() {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, e := unix.Poll(fds, 0); e == nil && fds[0].Revents != 0 {
			n, err = unix.Read(fd, buf)
		}
	})
	return n, err
}

// may asks mayRead, unless the terminal is taken.
func (r *relay) may(mayRead func() bool) (ok bool) {
	return r.pause.reading(func() { ok = mayRead() }) && ok
}

// busyMillis is how long to leave a terminal alone that another program uses.
const busyMillis = 100

// ready waits until fd can be read and may be; false says that the run ended.
func (r *relay) ready(fd int, mayRead func() bool) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(r.stopped.Fd()), Events: unix.POLLIN}}
	for {
		fds[0].Revents, fds[1].Revents = 0, 0
		if _, err := unix.Poll(fds, -1); err != nil && err != unix.EINTR {
			return false
		}
		if fds[1].Revents != 0 {
			return false
		}
		if fds[0].Revents == 0 {
			continue
		}
		if mayRead == nil || r.may(mayRead) {
			return true
		}
		// Something is there, but not for us: look again later.
		_, _ = unix.Poll(fds[1:], busyMillis)
	}
}

// finish waits for all output to be delivered, unless that takes too long, and
// stops the input. It reports whether it was.
func (r *relay) finish(pipes [3]*os.File, tooLong <-chan time.Time) (all bool) {
	delivered := make(chan struct{})
	go func() {
		r.out.Wait()
		close(delivered)
	}()
	select {
	case <-delivered:
		all = true
	case <-tooLong:
	}
	r.stop.Close()
	if pipes[0] != nil {
		pipes[0].Close() // wakes a writer whose reader is gone
	}
	r.in.Wait()
	r.stopped.Close()
	return all
}

// conclude adds to how the command ended what it wrote and nobody got.
func (r *relay) conclude(res *Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	res.Unwritten = slices.Clone(r.failed)
	if len(res.Unwritten) > 0 && res.ExitCode == 0 {
		res.ExitCode = ExitUnwritten
	}
}
