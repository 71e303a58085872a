package launcher

import (
	"bytes"
	"math/rand/v2"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// answersWithin is how long a terminal has to answer before it is taken for
	// one that does not, or is too far away to wait for.
	answersWithin = 300 * time.Millisecond
	// maxAnswers bounds what is read meanwhile, in bytes.
	maxAnswers = 1 << 20
)

// putBack undoes what the command has done to the caller's terminal, before
// anybody else writes there or reads from it. Where the command had it asked
// something, the answers are taken away: a shell would read them as typed. What
// the operator types in just that moment goes with them.
func (o *outerTerminal) putBack(std *streams) {
	if o == nil {
		return
	}
	o.modesMu.Lock()
	resets, asked := o.modes.resets(), o.modes.asked
	o.modes = modes{}
	o.modesMu.Unlock()
	if resets == "" {
		return
	}
	to := int(o.file.Fd())
	if writeAll(to, []byte(resets)) != nil {
		return // it is gone
	}
	if std.kinds[1] != kindTerminal || !asked || !foreground(to) {
		return // keys are another program's
	}
	o.takeAnswers(std.keys())
}

// keys is the terminal that can be read; nil: none.
func (s *streams) keys() *os.File {
	if s.interactive() {
		return s.outer[0]
	}
	f := s.outer[1]
	if flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0); err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return nil
	}
	return f
}

// takeAnswers reads what the terminal has to say up to the answer to a question
// of our own.
func (o *outerTerminal) takeAnswers(keys *os.File) {
	if keys == nil {
		return
	}
	o.raw() // or they would be echoed
	size, err := unix.IoctlGetWinsize(int(o.file.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Row < 2 || size.Col < 2 {
		return
	}
	ask, answer := fence(1+rand.N(int(size.Row)), 1+rand.N(int(size.Col)))
	if writeAll(int(o.file.Fd()), []byte(ask)) != nil {
		return
	}
	fd := int(keys.Fd())
	buf := make([]byte, 4096)
	var last []byte
	total := 0
	for end := time.Now().Add(answersWithin); total < maxAnswers; {
		left := time.Until(end)
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(max(left, 0)/time.Millisecond))
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 || !foreground(fd) {
			return
		}
		if n, err = unix.Read(fd, buf); err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		if err != nil || n <= 0 {
			return
		}
		total += n
		last = append(last, buf[:n]...)
		if bytes.Contains(last, answer) {
			return
		}
		last = last[max(0, len(last)-len(answer)):]
	}
}

// written follows what the command writes.
func (o *outerTerminal) written(data []byte) {
	o.modesMu.Lock()
	defer o.modesMu.Unlock()
	o.modes.write(data)
}
