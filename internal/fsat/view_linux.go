package fsat

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Statx is statx(2) without allocation. An empty name with AT_EMPTY_PATH asks
// about dirfd itself, which may be O_PATH.
func Statx(dirfd int, name string, flags int, mask uint32, sx *unix.Statx_t) error {
	var short [shortPath + 1]byte
	buf, err := cstring(short[:], name)
	if err != nil {
		return err
	}
	for {
		_, _, errno := syscall.Syscall6(unix.SYS_STATX, uintptr(dirfd), uintptr(unsafe.Pointer(&buf[0])),
			uintptr(flags), uintptr(mask), uintptr(unsafe.Pointer(sx)), 0)
		switch errno {
		case 0:
			return nil
		case unix.EINTR:
			continue
		}
		return errno
	}
}

// Pread reads at an offset until buf is full or the file ends.
func Pread(fd int, buf []byte, off int64) (int, error) {
	done := 0
	for done < len(buf) {
		n, err := unix.Pread(fd, buf[done:], off+int64(done))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil && done > 0:
			return done, nil
		case err != nil:
			return 0, err
		case n == 0:
			return done, nil
		}
		done += n
	}
	return done, nil
}

// Pwrite writes all of buf at an offset, or at the end of the file as it is
// at that moment (RWF_APPEND, pwritev2(2)). It returns how much was written
// before an error.
func Pwrite(fd int, buf []byte, off int64, atEnd bool) (int, error) {
	done := 0
	for {
		var n int
		var err error
		if atEnd {
			n, err = unix.Pwritev2(fd, [][]byte{buf[done:]}, off+int64(done), unix.RWF_APPEND)
		} else {
			n, err = unix.Pwrite(fd, buf[done:], off+int64(done))
		}
		switch {
		case err == unix.EINTR:
			continue
		case err != nil && done > 0:
			return done, nil
		case err != nil:
			return 0, err
		}
		done += n
		if done == len(buf) || n == 0 {
			return done, nil
		}
	}
}
