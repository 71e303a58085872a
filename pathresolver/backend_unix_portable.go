//go:build unix && (!linux || portable)

package pathresolver

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// identifyFile describes an open file.
func identifyFile(f *os.File) (resolved.FileID, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return resolved.FileID{Dev: uint64(st.Dev), Ino: st.Ino, Links: uint32(st.Nlink)}, err
}

// tryLock takes the lock of a directory if nobody has it; EWOULDBLOCK.
func tryLock(dir handle) error {
	if dir.file == nil {
		return syscall.EBADF // it may not be read
	}
	return syscall.Flock(int(dir.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

func unlock(dir handle) { _ = syscall.Flock(int(dir.file.Fd()), syscall.LOCK_UN) }

// copyAttributes gives to the owner and mode of from, without set-id bits.
func copyAttributes(from, to handle) error {
	info, err := from.file.Stat()
	if err != nil {
		return errno(err)
	}
	own, err := to.file.Stat()
	if err != nil {
		return errno(err)
	}
	is, has := info.Sys().(*syscall.Stat_t), own.Sys().(*syscall.Stat_t)
	if is.Uid != has.Uid || is.Gid != has.Gid {
		if err := to.file.Chown(int(is.Uid), int(is.Gid)); err != nil {
			return errno(err)
		}
	}
	return errno(to.file.Chmod(info.Mode().Perm()))
}
