package launcher

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// memory is how much the machine has, in bytes; 0: unknown.
func memory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram * uint64(info.Unit))
}

// tasks is maxTasks, or 0 where the bound would not be the process namespace's
// own but the whole machine's: before Linux 6.14.
func tasks(wanted int) int {
	if major, minor := kernelVersion(); major < 6 || major == 6 && minor < 14 {
		return 0
	}
	return maxTasks(wanted)
}

// boundTasks is called by process 1 of the namespace: the kernel takes the bound
// for that of the process that writes it.
func boundTasks(t *tree, s planStep) error {
	fd, err := unix.Openat(t.fd, strings.TrimPrefix(s.Path, "/"), unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", s.Path, err)
	}
	defer unix.Close(fd)
	if _, err := unix.Write(fd, strconv.AppendInt(nil, s.Size, 10)); err != nil {
		return fmt.Errorf("set %s to %d: %w", s.Path, s.Size, err)
	}
	return nil
}
