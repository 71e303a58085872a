package launcher

import (
	"bytes"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

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
	case unix.SIGINT, unix.SIGQUIT, unix.SIGTSTP:
		m.Group = true
	}
	_ = send(s.init, m, -1)
}

// suspend follows the command into its stop, so that the shell outside gets
// its terminal back. The keeper is told: this silence is meant.
func (s *session) suspend(stop syscall.Signal) {
	if !jobControlled() {
		// Nobody would ever continue us. As in any such group, keys do not stop
		// the command; what it does to itself is its own affair.
		if stop != unix.SIGSTOP {
			_ = send(s.init, message{Verb: sayCont}, -1)
		}
		return
	}
	if s.outer != nil {
		s.outer.restore()
	}
	_ = send(s.keeper, message{Verb: sayPause}, -1)
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
	_ = send(s.keeper, message{Verb: sayBeat}, -1)
	if s.outer != nil && s.std.interactive() {
		s.config.Pause.reading(s.outer.raw) // or whoever has it gives it back so
		s.outer.resize()
	}
	_ = send(s.init, message{Verb: sayCont}, -1)
}
