package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetTyped has the terminal forget what was typed and not read yet.
func forgetTyped(terminal *os.File) error {
	if err := unix.IoctlSetInt(int(terminal.Fd()), unix.TCFLSH, unix.TCIFLUSH); err != nil {
		return &os.PathError{Op: "forget what was typed", Path: terminal.Name(), Err: err}
	}
	return nil
}
