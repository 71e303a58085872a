package projectfile

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// identity tells a directory from another one that takes its place: its inode, and when
// that was made, where the file system knows. Device numbers are left out: those of
// btrfs, NFS and containers are others after the next start.
func identity(dir *os.File) (string, error) {
	var st unix.Statx_t
	if err := unix.Statx(int(dir.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return "", &os.PathError{Op: "statx", Path: dir.Name(), Err: err}
	}
	if st.Mask&unix.STATX_BTIME == 0 {
		st.Btime = unix.StatxTimestamp{}
	}
	return fmt.Sprintf("%d:%d.%09d", st.Ino, st.Btime.Sec, st.Btime.Nsec), nil
}

// ownAlone refuses what another user made, or could write.
func ownAlone(info os.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return errors.New("it is not this user's alone")
	}
	return nil
}
