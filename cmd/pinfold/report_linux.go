package main

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// errnoName is such as "EROFS"; "" for none.
func errnoName(e syscall.Errno) string { return unix.ErrnoName(e) }

// readOnlyMount reports whether a path lies on a mount that nobody writes.
func readOnlyMount(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Flags&unix.ST_RDONLY != 0
}

// pathOf is where an open file lies now (proc_pid_fd(5)).
func pathOf(f *os.File) (string, error) {
	return os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
}

// stopName is such as "SIGTSTP".
func stopName(s syscall.Signal) string { return unix.SignalName(s) }
