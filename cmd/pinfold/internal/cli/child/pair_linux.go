package child

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Pair are two ends of a connection that nobody else can reach; theirs is to be
// inherited.
func Pair(name string) (ours net.Conn, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	end := os.NewFile(uintptr(fds[0]), name)
	theirs = os.NewFile(uintptr(fds[1]), name)
	ours, err = net.FileConn(end)
	if err = errors.Join(err, end.Close()); err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return ours, theirs, nil
}
