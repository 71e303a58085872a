package approver

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// controllingTerminal is this process's own, opened anew: what others do to
// theirs does not change it.
type controllingTerminal struct {
	*os.File
	saved *unix.Termios // the mode before Take; nil where it is not taken
}

func openTerminal() (askTerminal, error) {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	return &controllingTerminal{File: f}, nil
}

// backgroundLook is how often a process in the background looks whether it
// still is, and one in the foreground whether its mode is.
const backgroundLook = 200 * time.Millisecond

// Take waits for the foreground: a process in the background that changes the
// mode is stopped.
func (t *controllingTerminal) Take(ctx context.Context) (release func(), err error) {
	for {
		took, err := t.keysAtOnce(true)
		if err != nil {
			return nil, err
		}
		if took {
			return t.release, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(backgroundLook):
		}
	}
}

// keysAtOnce has keys come as they are typed, unseen, unless this process is in
// the background. Signals of keys stay. forget drops what was typed before.
func (t *controllingTerminal) keysAtOnce(forget bool) (took bool, err error) {
	failed := t.control(func(fd int) {
		var group int
		if group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
			return
		}
		var now *unix.Termios
		if now, err = unix.IoctlGetTermios(fd, unix.TCGETS); err != nil {
			return
		}
		took = true
		mode := *now
		mode.Lflag &^= unix.ICANON | unix.ECHO | unix.ECHONL | unix.IEXTEN // which has a use for Ctrl-O
		mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
		if t.saved == nil {
			saved := *now
			t.saved = &saved
		}
		if forget {
			err = unix.IoctlSetTermios(fd, unix.TCSETSF, &mode)
		} else if mode != *now { // a shell has had it meanwhile
			err = unix.IoctlSetTermios(fd, unix.TCSETS, &mode)
		}
	})
	return took, errors.Join(failed, err)
}

// release gives the terminal back as it was, without what was typed behind the
// answer.
func (t *controllingTerminal) release() {
	_ = t.control(func(fd int) { // one that is gone has no mode
		if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err == nil && group == unix.Getpgrp() {
			_ = unix.IoctlSetTermios(fd, unix.TCSETSF, t.saved)
		}
	})
	t.saved = nil
}

func (t *controllingTerminal) control(do func(fd int)) error {
	raw, err := t.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) { do(int(fd)) })
}

// ReadKeys reads what was typed.
func (t *controllingTerminal) ReadKeys(ctx context.Context) ([]byte, error) {
	buf := make([]byte, 4096)
	for ctx.Err() == nil {
		if _, err := t.keysAtOnce(false); err != nil {
			return nil, err
		}
		if err := t.SetReadDeadline(time.Now().Add(backgroundLook)); err != nil {
			return nil, err
		}
		stop := context.AfterFunc(ctx, func() { _ = t.SetReadDeadline(time.Unix(1, 0)) }) // it could be set just now
		n, err := t.Read(buf)
		stop()
		switch {
		case n > 0:
			return buf[:n], nil
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return nil, err
		}
	}
	return nil, ctx.Err()
}
