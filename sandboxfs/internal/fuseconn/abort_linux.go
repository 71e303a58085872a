package fuseconn

import (
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// OpenAbort opens the file by which the connection whose files lie on device dev
// is aborted: everybody's operations fail with ENOTCONN then. fd is -1 where it
// has ended already. The kernel offers that in a file system of its own, fusectl,
// by device number; it is looked at without being mounted anywhere.
func OpenAbort(dev uint64) (fd int, err error) {
	fs, err := unix.Fsopen("fusectl", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	dir, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(dir)
	name := strconv.FormatUint(uint64(unix.Minor(dev)), 10) + "/abort"
	fd, err = fsat.Openat(dir, name, unix.O_WRONLY, 0)
	if err == unix.ENOENT {
		return -1, nil
	}
	return fd, err
}

// Abort aborts the connection through the file that OpenAbort opened for its device.
// The kernel gives a device number to another connection as soon as this one has
// ended. So the file has to be open before Abort looks whether the connection is still
// there: if it is, it had the number when the file was opened, and if it ends now, the
// file has no effect any more.
func (c *Conn) Abort(fd int) error {
	if !c.connected() {
		return nil
	}
	_, err := unix.Write(fd, []byte("1"))
	return err
}

// connected reports whether the kernel still has the connection.
func (c *Conn) connected() bool {
	return c.control(func(dev uintptr) unix.Errno {
		for {
			is := []unix.PollFd{{Fd: int32(dev)}} // POLLERR comes unasked
			n, err := unix.Poll(is, 0)
			if err == nil && n == 0 {
				return 0
			}
			if err != unix.EINTR {
				return unix.ENOTCONN
			}
		}
	}) == 0
}

// SilencePoll has the server of a new mount say once that it knows no POLL.
// Otherwise a Go program that serves a view and opens a file in it can stop: the
// runtime polls new files on a thread that it believes cannot block. file says
// that what is mounted is a regular file.
func SilencePoll(mount string, file bool) error {
	if !file {
		mount = filepath.Join(mount, PollName)
	}
	fd, err := unix.Open(mount, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return nil
}
