package launcher

import (
	"bytes"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

// noOutputProcessing leaves the translation of line ends to the outer
// terminal, for when that is not raw.
func noOutputProcessing(fd int) error {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return err
	}
	t.Oflag &^= unix.OPOST
	return unix.IoctlSetTermios(fd, unix.TCSETS, t)
}

// openSlave opens the other side of a new pseudo-terminal, and sets it up. The caller
// closes it.
func openSlave(master int, size unix.Winsize, cooked bool) (slave int, err error) {
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return -1, err
	}
	// TIOCGPTPEER opens the other side without a path.
	peer, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		return -1, errno
	}
	slave = int(peer)
	if err = unix.IoctlSetWinsize(slave, unix.TIOCSWINSZ, &size); err == nil && cooked {
		err = noOutputProcessing(slave)
	}
	if err != nil {
		unix.Close(slave)
		return -1, err
	}
	return slave, nil
}

// outerTerminal is the caller's terminal while the command has it.
type outerTerminal struct {
	file   *os.File
	master *os.File

	modesMu sync.Mutex
	modes   modes // guarded by modesMu

	mu    sync.Mutex
	saved *unix.Termios // set while the terminal is raw
}

// raw hands keys to the inner terminal as they are typed, Ctrl-C among them.
// It does nothing while the caller runs in the background.
func (o *outerTerminal) raw() {
	o.mu.Lock()
	defer o.mu.Unlock()
	fd := int(o.file.Fd())
	if o.saved != nil || !foreground(fd) {
		return
	}
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return
	}
	saved := *t
	// cfmakeraw(3)
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	t.Oflag &^= unix.OPOST
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	t.Cflag = t.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	if unix.IoctlSetTermios(fd, unix.TCSETS, t) == nil {
		o.saved = &saved
	}
}

// restore undoes raw. In the background the terminal is another program's,
// which has set it as it likes.
func (o *outerTerminal) restore() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.saved != nil {
		if fd := int(o.file.Fd()); foreground(fd) {
			_ = unix.IoctlSetTermios(fd, unix.TCSETSW, o.saved)
		}
		o.saved = nil
	}
}

// suspendSequences are Ctrl-Z as terminals send it that were told to report
// keys in full (kitty's keyboard protocol, xterm's modifyOtherKeys).
var suspendSequences = []string{"\x1b[122;5u", "\x1b[122;5:1u", "\x1b[27;5;122~"}

// suspends reports whether one of the keys is the one that suspends: Ctrl-Z, or
// what the operator has set in its place. What the command has set for its own
// terminal does not count, or it could make any key that one.
func (o *outerTerminal) suspends(keys []byte) bool {
	o.mu.Lock()
	own := byte(0)
	if o.saved != nil {
		own = o.saved.Cc[unix.VSUSP]
	}
	o.mu.Unlock()
	if bytes.IndexByte(keys, ctrlZ) >= 0 || own != 0 && bytes.IndexByte(keys, own) >= 0 {
		return true
	}
	return slices.ContainsFunc(suspendSequences, func(s string) bool { return bytes.Contains(keys, []byte(s)) })
}

const ctrlZ = 0x1a

// mayRead: keys are ours while the caller is in the foreground.
func (o *outerTerminal) mayRead() bool {
	o.raw()
	return foreground(int(o.file.Fd()))
}

// resize gives the inner terminal the size of the outer one; the kernel tells
// the foreground group inside (SIGWINCH).
func (o *outerTerminal) resize() {
	if size, err := unix.IoctlGetWinsize(int(o.file.Fd()), unix.TIOCGWINSZ); err == nil {
		_ = unix.IoctlSetWinsize(int(o.master.Fd()), unix.TIOCSWINSZ, size)
	}
}

// foreground reports whether this process may read from the terminal without
// being stopped. A terminal that is not the caller's own has no such rule.
func foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// mayReadLines: in a pipeline, a terminal that is not in line mode is being
// used by another program, such as a pager; its keys are not ours.
func mayReadLines(fd int) bool {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err != nil || t.Lflag&unix.ICANON != 0 && foreground(fd)
}
