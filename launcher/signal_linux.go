package launcher

import (
	"os"
	"os/signal"
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
func (s *session) suspend() {
	if s.std.terminal() == nil {
		return // nobody's shell is waiting; whoever stopped it continues it
	}
	if s.outer != nil {
		s.outer.restore()
	}
	_ = send(s.keeper, message{Verb: sayPause}, -1)
	_ = unix.Kill(0, unix.SIGSTOP)
}

// resume continues the command after the supervisor was continued.
func (s *session) resume() {
	_ = send(s.keeper, message{Verb: sayBeat}, -1)
	if s.outer != nil && s.std.interactive() {
		s.outer.raw()
		s.outer.resize()
	}
	_ = send(s.init, message{Verb: sayCont}, -1)
}
