package run

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// errnoName is such as "EROFS"; "" for none.
func errnoName(e syscall.Errno) string { return unix.ErrnoName(e) }

// pathOf is where an open file lies now (proc_pid_fd(5)).
func pathOf(f *os.File) (string, error) {
	return os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
}

// stopName is such as "SIGTSTP".
func stopName(s syscall.Signal) string { return unix.SignalName(s) }
