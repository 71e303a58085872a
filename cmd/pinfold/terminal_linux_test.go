package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

func init() { standIns["terminal"] = terminalMain }

// newTerminal makes a terminal: the side of the person at it, who reads what is
// shown and types, and the side of the programs.
func newTerminal() (person, programs *os.File, err error) {
	person, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			_ = person.Close() // nothing was written to it
		}
	}()
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	// Wide, as a line that is folded is two.
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 300}); err != nil {
		return nil, nil, err
	}
	programs, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	return person, programs, err
}

// startOnTerminal starts a command as the one whose terminal this is. The caller's
// copy of the programs' side is closed, so that reading ends when the last of
// them has gone.
func startOnTerminal(cmd *exec.Cmd, programs *os.File) error {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = programs, programs, programs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return errors.Join(cmd.Start(), programs.Close())
}

// terminalMain is the program "terminal PROGRAM [ARGUMENT...]" of the sessions:
// it runs a program on a new terminal, writes all that is shown there to its own
// standard output, and ends as the program did. The library's ttyout loses the
// last lines when the machine is busy.
func terminalMain() {
	code, err := showTerminal(exec.Command(os.Args[1], os.Args[2:]...), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "terminal:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func showTerminal(cmd *exec.Cmd, to io.Writer) (code int, err error) {
	person, programs, err := newTerminal()
	if err != nil {
		return 0, err
	}
	if err := startOnTerminal(cmd, programs); err != nil {
		return 0, errors.Join(err, person.Close())
	}
	// The kernel says EIO once the programs' side is closed and all was read.
	_, err = io.Copy(to, person)
	if errors.Is(err, syscall.EIO) {
		err = nil
	}
	err = errors.Join(err, person.Close())
	var exit *exec.ExitError
	if waited := cmd.Wait(); !errors.As(waited, &exit) {
		err = errors.Join(err, waited)
	}
	return cmd.ProcessState.ExitCode(), err
}
