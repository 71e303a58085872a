package launcher

import (
	"context"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Join starts a further command in the run whose supervisor serves the other end of conn
// by Control.Exec, joins c's streams to it, and returns when it has ended. The streams
// are passed as Run passes them. Signals that this process gets are passed on. An error
// says that the command never ran.
func Join(ctx context.Context, conn *os.File, c JoinConfig) (Result, error) {
	std, err := newStreams([3]*os.File{c.Stdin, c.Stdout, c.Stderr})
	if err != nil {
		return Result{}, err
	}
	j := &joined{conn: int(conn.Fd()), std: std}
	defer std.close()
	stop := context.AfterFunc(ctx, func() { _ = unix.Shutdown(j.conn, unix.SHUT_RDWR) })
	defer stop()
	if err := j.ask(c); err != nil {
		return Result{}, &SetupError{Step: "ask the run", Err: err}
	}
	return j.follow()
}

// runEnded says why a further command was killed.
const runEnded = "the run has ended, and with it everything inside"

// joined is a further command as its caller sees it.
type joined struct {
	conn  int
	std   *streams
	outer *outerTerminal
}

func (j *joined) ask(c JoinConfig) error {
	r := execRequest{Command: c.Command, Env: c.Env, Kinds: j.std.kinds, Same: j.std.same, Cooked: !j.std.interactive()}
	if t := j.std.terminal(); t != nil {
		if size, err := unix.IoctlGetWinsize(int(t.Fd()), unix.TIOCGWINSZ); err == nil {
			r.Size = *size
		}
	}
	request, err := writeSealed(r)
	if err != nil {
		return err
	}
	defer request.Close()
	return send(j.conn, message{Verb: sayExec}, int(request.Fd()))
}

// follow follows the command to its end.
func (j *joined) follow() (res Result, err error) {
	var rel *relay
	var stopSignals func()
	defer func() {
		if rel != nil {
			if rel.finish(j.std.pipes, nil) {
				j.outer.putBack(j.std)
			}
			if j.outer != nil {
				j.outer.restore()
			}
			rel.conclude(&res)
			stopSignals()
		}
	}()
	for {
		m, attached, err := receive(j.conn, -1)
		switch {
		case err != nil && rel == nil:
			return res, &SetupError{Step: "start the command", Err: errNotRunning, Fix: "'pinfold ps' lists what runs"}
		case err != nil:
			return Result{ExitCode: exitSignal + int(unix.SIGKILL), Signal: unix.SIGKILL, Reason: runEnded}, nil
		}
		switch m.Verb {
		case sayStream:
			if m.Stream < 0 || m.Stream >= len(j.std.pipes) || attached < 0 || j.std.kinds[m.Stream] != kindStream || j.std.pipes[m.Stream] != nil {
				continue
			}
			_ = unix.SetNonblock(attached, true)
			j.std.pipes[m.Stream] = os.NewFile(uintptr(attached), streamNames[m.Stream])
		case sayMaster:
			if t := j.std.terminal(); t != nil && attached >= 0 && j.outer == nil {
				_ = unix.SetNonblock(attached, true)
				j.outer = &outerTerminal{file: t, master: os.NewFile(uintptr(attached), "terminal")}
			}
		case sayStarted:
			if rel, err = j.std.connect(j.outer, nil, nil); err != nil {
				return res, err
			}
			stopSignals = j.passSignals()
		case sayExit:
			return Result{ExitCode: m.Code, Signal: m.Signal, Reason: m.Reason}, nil
		}
	}
}

// passSignals hands signals on until it is stopped.
func (j *joined) passSignals() (stop func()) {
	signals, uncatch := catchSignals()
	over := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-over:
				return
			case sig := <-signals:
				j.pass(sig.(syscall.Signal))
			}
		}
	}()
	return func() {
		uncatch()
		close(over)
		<-done
	}
}

func (j *joined) pass(sig syscall.Signal) {
	switch sig {
	case unix.SIGWINCH:
		if j.outer != nil {
			j.outer.resize()
		}
	case unix.SIGTSTP: // this process alone: the command is another run's
		if j.outer != nil {
			j.outer.restore()
		}
		_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
	case unix.SIGCONT:
		if j.outer != nil && j.std.interactive() {
			j.outer.raw()
			j.outer.resize()
		}
	default:
		_ = send(j.conn, message{Verb: saySignal, Signal: sig}, -1)
	}
}
