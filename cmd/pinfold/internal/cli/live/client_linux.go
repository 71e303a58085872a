package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Ended is how a run ended that was stopped.
type Ended struct {
	Code   int
	Left   string // as 'pinfold left' calls it; "": nothing
	Killed bool   // it did not answer, and was killed with its process
}

// connect is a connection to a run that goes on.
func (r *Record) connect() (*net.UnixConn, *peer, error) {
	c, p, err := r.dial()
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ECONNREFUSED) {
		err = &cli.ExitError{Code: cli.ExitFailed, Err: fmt.Errorf("run '%s' has ended", r.ID), Hint: "'pinfold ps' lists what runs"}
	}
	return c, p, err
}

// Exec starts a further command in a run, joins c's streams to it, and returns when it has
// ended. An error says that it never ran.
func (r *Record) Exec(ctx context.Context, c launcher.JoinConfig) (launcher.Result, error) {
	conn, p, err := r.connect()
	if err != nil {
		return launcher.Result{}, err
	}
	p.close()
	defer func() { _ = conn.Close() }() // nothing is owed on it
	var got reply
	err = errors.Join(conn.SetDeadline(time.Now().Add(patience)), say(conn, order{Do: doExec, What: c.Command[0]}))
	if err == nil {
		err = hear(conn, &got)
	}
	if err == nil && got.Error != "" {
		err = errors.New(got.Error)
	}
	if err != nil {
		return launcher.Result{}, err
	}
	f, err := conn.File()
	if err != nil {
		return launcher.Result{}, err
	}
	defer func() { _ = f.Close() }() // likewise
	return launcher.Join(ctx, f, c)
}

// Change changes the rules of a run. An error says that they are as before, but where the
// run did not answer.
func (r *Record) Change(c Change) (Changed, error) {
	conn, p, err := r.connect()
	if err != nil {
		return Changed{}, err
	}
	p.close()
	defer func() { _ = conn.Close() }() // nothing is owed on it
	var got reply
	err = errors.Join(conn.SetDeadline(time.Now().Add(changePatience)), say(conn, order{Do: doChange, Change: c}))
	if err == nil {
		err = hear(conn, &got)
	}
	switch {
	case err != nil:
		return Changed{}, fmt.Errorf("run '%s' did not say that it has changed: %w", r.ID, err)
	case len(got.Violations) > 0:
		return Changed{}, &pathresolver.ConfigError{Violations: got.Violations}
	case got.Error != "":
		return Changed{}, errors.New(got.Error)
	}
	return got.Changed, nil
}

// changePatience is how long a run may take to change its rules: with a million names
// that the kernel remembers it is about a second.
const changePatience = time.Minute

// stopPatience is how long, beyond the time that it gives the command, a run may take to
// end before its process is taken for one that hangs.
const stopPatience = 15 * time.Second

// Stop ends a run: the command gets SIGTERM, and what is left after a time is killed. It
// returns once the run's process is gone. A process that hangs is killed by the handle
// that came with the connection, and the kernel ends everything inside with it.
func (r *Record) Stop(ctx context.Context, after time.Duration) (Ended, error) {
	c, p, err := r.connect()
	if err != nil {
		return Ended{}, err
	}
	defer p.close()
	defer func() { _ = c.Close() }() // nothing is owed on it
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	var got reply
	err = c.SetDeadline(time.Now().Add(after + stopPatience))
	if err == nil {
		err = say(c, order{Do: doStop, After: after})
	}
	if err == nil {
		err = hear(c, &got)
	}
	if ctx.Err() != nil {
		return Ended{}, ctx.Err()
	}
	ended := Ended{Code: got.Code, Left: got.Left}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		ended = Ended{Code: cli.ExitSignal + int(unix.SIGKILL), Killed: true}
		if err := unix.PidfdSendSignal(p.pidfd, unix.SIGKILL, nil, 0); err != nil && err != unix.ESRCH {
			return Ended{}, err
		}
	case errors.Is(err, io.EOF), errors.Is(err, unix.ECONNRESET), errors.Is(err, unix.EPIPE):
		ended = Ended{Code: cli.ExitSignal + int(unix.SIGKILL), Killed: true} // by somebody else
	case err != nil:
		return Ended{}, err
	case got.Error != "":
		return Ended{}, errors.New(got.Error)
	}
	if err := p.wait(); err != nil {
		return Ended{}, err
	}
	r.goesOn() // no: but what is left of it is removed
	return ended, nil
}

// wait waits for the process's end.
func (p *peer) wait() error {
	for {
		fds := []unix.PollFd{{Fd: int32(p.pidfd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(stopPatience.Milliseconds()))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0:
			return fmt.Errorf("process %d does not end", p.pid)
		default:
			return nil
		}
	}
}
