package sandboxfs

import (
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// abort ends the connection, whoever uses it: their operations fail with
// ENOTCONN. The kernel offers that in a file system of its own, fusectl, by
// device number; it is looked at without being mounted anywhere. A number is
// given to another connection once its own has ended, so only one that is
// still served is named.
func (m *mounted) abort() error {
	if !m.lazy || m.dev == 0 || m.part.ended.Load() {
		return nil
	}
	fs, err := unix.Fsopen("fusectl", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return err
	}
	defer closeFD(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return err
	}
	dir, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer closeFD(dir)
	name := strconv.FormatUint(uint64(unix.Minor(m.dev)), 10) + "/abort"
	fd, err := fsat.Openat(dir, name, unix.O_WRONLY, 0)
	if err == unix.ENOENT {
		return nil // it has ended already
	}
	if err != nil {
		return err
	}
	defer closeFD(fd)
	_, err = unix.Write(fd, []byte("1"))
	return err
}
