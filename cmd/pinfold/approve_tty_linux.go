package main

import (
	"bufio"
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// controllingTerminal is this process's own, opened anew: what others do to
// theirs does not change it.
type controllingTerminal struct {
	*os.File
	in *bufio.Reader
}

func openTerminal() (askTerminal, error) {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	return &controllingTerminal{f, bufio.NewReader(f)}, nil
}

// backgroundLook is how often a process in the background looks whether it
// still is.
const backgroundLook = 200 * time.Millisecond

// Forget waits for the foreground and drops what was typed before.
func (t *controllingTerminal) Forget(ctx context.Context) error {
	raw, err := t.SyscallConn()
	if err != nil {
		return err
	}
	for {
		front, failed := false, error(nil)
		err := raw.Control(func(fd uintptr) {
			var group int
			if group, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPGRP); failed == nil && group == unix.Getpgrp() {
				front, failed = true, unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH)
			}
		})
		if err != nil || failed != nil || front {
			t.in.Reset(t.File)
			if err == nil {
				err = failed
			}
			return err
		}
		if !pause(ctx, backgroundLook) {
			return ctx.Err()
		}
	}
}

// ReadLine reads a line that the terminal has edited.
func (t *controllingTerminal) ReadLine(ctx context.Context) (string, error) {
	if err := t.SetReadDeadline(time.Time{}); err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() { _ = t.SetReadDeadline(time.Unix(1, 0)) }) // it could be set just now
	defer stop()
	return t.in.ReadString('\n')
}
