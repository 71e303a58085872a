package resolverbench

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	sysOpenat2 = unix.SYS_OPENAT2
	strict     = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV
)

// limit is the kernel's own share: the calls bypass Go's scheduler.
func (w *world) limit(path string) loop {
	p, how := prepare(path, unix.O_RDONLY)
	return func(n int) error {
		for range n {
			fd, _, errno := syscall.RawSyscall6(sysOpenat2, uintptr(w.dirFD),
				uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(how)), unsafe.Sizeof(*how), 0, 0)
			if errno != 0 {
				return errno
			}
			if _, _, errno = syscall.RawSyscall(unix.SYS_CLOSE, fd, 0, 0); errno != 0 {
				return errno
			}
		}
		return nil
	}
}

// floor is what any safe open from Go costs at least: the same, told to the
// scheduler, with a look at what was opened.
func (w *world) floor(path string, flag uint64) loop {
	p, how := prepare(path, flag)
	st := new(unix.Stat_t)
	return func(n int) error {
		for range n {
			fd, _, errno := syscall.Syscall6(sysOpenat2, uintptr(w.dirFD),
				uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(how)), unsafe.Sizeof(*how), 0, 0)
			if errno != 0 {
				return errno
			}
			if err := unix.Fstat(int(fd), st); err != nil {
				return err
			}
			if err := unix.Close(int(fd)); err != nil {
				return err
			}
		}
		return nil
	}
}

func prepare(path string, flag uint64) (*byte, *unix.OpenHow) {
	p, err := unix.BytePtrFromString(path)
	if err != nil {
		panic("bug: a path of ours holds NUL: " + err.Error())
	}
	return p, &unix.OpenHow{Flags: flag | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY, Resolve: strict}
}
