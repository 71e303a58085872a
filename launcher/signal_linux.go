package launcher

import (
	"bytes"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// passed are the signals that the command gets when the supervisor gets them.
var passed = []os.Signal{
	unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2,
	unix.SIGWINCH, unix.SIGTSTP, unix.SIGCONT,
}

func catchSignals() (<-chan os.Signal, func()) {
	signals := make(chan os.Signal, 16)
	for _, s := range passed {
		// What the caller's parent ignores (nohup) stays ignored.
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	return signals, func() { signal.Stop(signals) }
}

// pass hands a signal on. Those that a terminal's keys cause reach the whole
// foreground group, as they would have without pinfold between.
func (s *session) pass(sig os.Signal) {
	m := message{Verb: saySignal, Signal: sig.(syscall.Signal)}
	switch sig {
	case unix.SIGWINCH:
		if s.outer != nil {
			s.outer.resize()
		}
		return
	case unix.SIGCONT:
		s.resume()
		return
	case unix.SIGTSTP:
		s.stops.asked.Store(time.Now().UnixNano())
		m.Group = true
	case unix.SIGINT, unix.SIGQUIT:
		m.Group = true
	}
	_ = send(s.init, m, -1)
	if sig == unix.SIGTERM || sig == unix.SIGHUP {
		// What is stopped would never learn of it.
		s.stops.now.Store(0)
		_ = send(s.init, message{Verb: sayCont}, -1)
	}
}

// terminate begins the end that SIGTERM asks for: the channel says when the
// command's time is up. From now on nothing stops this process any more, not
// even writing to a terminal from the background.
func (s *session) terminate(grace time.Duration) <-chan time.Time {
	signal.Ignore(unix.SIGTTIN, unix.SIGTTOU)
	if grace < 0 {
		return nil
	}
	s.deadline = time.Now().Add(grace)
	return time.After(grace)
}

// overdue says when to wait for readers of the output no longer; never, where
// the end has no time.
func (s *session) overdue() <-chan time.Time {
	if s.deadline.IsZero() {
		return nil
	}
	return time.After(time.Until(s.deadline) + lastOutput)
}

// typed looks at the operator's keys, and hands them to the command by give. A
// command that has stopped itself does not get the one that suspends: it is
// stopped, and the stop that its terminal would make of the key could outlive the
// next fg.
func (s *session) typed(keys []byte, give func() error) error {
	if !s.outer.suspends(keys) {
		return give()
	}
	s.stops.asked.Store(time.Now().UnixNano())
	if s.stops.now.Load() == 0 {
		return give()
	}
	select {
	case s.suspendKeys <- struct{}{}:
	default: // one is on its way
	}
	return nil
}

// stops is what is known of the command's being stopped. Only the operator
// stops pinfold, by a key or SIGTSTP: a command that could do it would stop
// whatever watches over it in the same process group too, such as timeout(1),
// and no deadline would hold.
type stops struct {
	asked   atomic.Int64 // when the operator last asked for a stop, in ns; 0: it was followed
	now     atomic.Int32 // the signal that has stopped the command; 0: it runs
	notices int
}

const (
	// followFor is how long after the operator's Ctrl-Z the command's stop is
	// taken for the answer to it. Programs that read keys themselves first put
	// the screen in order, then stop themselves.
	followFor = 5 * time.Second
	// maxStopNotices bounds how often OnStopped is called.
	maxStopNotices = 5
)

// stopped is called when the command was stopped.
func (s *session) stopped(stop syscall.Signal) {
	s.stops.now.Store(int32(stop))
	if time.Since(time.Unix(0, s.stops.asked.Load())) < followFor {
		s.suspend()
		return
	}
	if s.stops.notices < maxStopNotices && s.config.OnStopped != nil {
		s.stops.notices++
		s.config.OnStopped(stop, s.outer != nil && s.std.interactive() && foreground(int(s.outer.file.Fd())))
	}
}

// suspendKey is called when the key that suspends was typed to a command that
// was stopped.
func (s *session) suspendKey() {
	if s.stops.now.Load() != 0 {
		s.suspend()
	}
}

// suspend follows the command into its stop, so that the shell outside gets
// its terminal back. The set-up helper is told: this silence is meant.
func (s *session) suspend() {
	stop := syscall.Signal(s.stops.now.Load())
	s.stops.asked.Store(0)
	if !jobControlled() {
		// Nobody would ever continue us. As in any such group, keys do not stop
		// the command; what it does to itself is its own affair.
		if stop != unix.SIGSTOP {
			s.stops.now.Store(0)
			_ = send(s.init, message{Verb: sayCont}, -1)
		}
		return
	}
	if s.outer != nil {
		s.outer.putBack(s.std)
		s.outer.restore()
	}
	_ = send(s.setup, message{Verb: sayPause}, -1)
	_ = unix.Kill(0, unix.SIGSTOP)
}

// jobControlled reports whether the process group has a parent in the session
// that looks after it: it is not orphaned, in the words of setpgid(2).
func jobControlled() bool {
	p := os.Getppid()
	for range maxAncestors {
		group, err := unix.Getpgid(p)
		if err != nil || p <= 1 {
			return false
		}
		if group != unix.Getpgrp() {
			theirs, err := unix.Getsid(p)
			ours, err2 := unix.Getsid(0)
			return err == nil && err2 == nil && theirs == ours
		}
		p = parentOf(p)
	}
	return false
}

// maxAncestors bounds the walk up to the shell.
const maxAncestors = 100

// parentOf returns 0 when there is none to be seen.
func parentOf(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The name, in parentheses, may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return parent
}

// resume continues the command after the supervisor was continued.
func (s *session) resume() {
	s.stops.now.Store(0)
	_ = send(s.setup, message{Verb: sayBeat}, -1)
	if s.outer != nil && s.std.interactive() {
		s.config.Pause.reading(s.outer.raw) // or the program that has it gives it back so
		s.outer.resize()
	}
	_ = send(s.init, message{Verb: sayCont}, -1)
}
