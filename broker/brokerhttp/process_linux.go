package brokerhttp

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// process is one that this one did not start, held so that its end is seen and
// its number cannot be taken for another's.
type process struct {
	*os.File // a pidfd
	pid      int
	start    uint64 // in clock ticks since the machine started
}

// openProcess finds a process by its number. The error is os.ErrProcessDone
// where there is none.
func openProcess(pid int) (*process, error) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err == unix.ESRCH {
		return nil, os.ErrProcessDone
	}
	if err != nil {
		return nil, os.NewSyscallError("pidfd_open", err)
	}
	p := &process{File: os.NewFile(uintptr(fd), "process"), pid: pid}
	if p.start, err = startOf(pid); err == nil || errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		// What was read is another's if this one has ended.
		if gone := unix.PidfdSendSignal(fd, 0, nil, 0); gone == unix.ESRCH {
			err = os.ErrProcessDone
		}
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// startOf is when a process began.
func startOf(pid int) (uint64, error) {
	const after = 20 // fields from the state on; see proc_pid_stat(5)
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	// The name, in parentheses, may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < after {
		return 0, fmt.Errorf("/proc/%d/stat has no start", pid)
	}
	return strconv.ParseUint(string(fields[after-1]), 10, 64)
}

// inodeOf is the number of a directory, which it keeps when it is moved.
func inodeOf(dir string) (uint64, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return 0, err
	}
	return info.Sys().(*syscall.Stat_t).Ino, nil
}

// wait returns nil once the process has ended, and an error once p is closed.
func (p *process) wait() error {
	raw, err := p.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return err == nil && n > 0
	})
}
