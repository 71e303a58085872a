package fsat

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Resolve flags of openat2(2), under the names of its man page.
const (
	ResolveBeneath      = unix.RESOLVE_BENEATH
	ResolveNoSymlinks   = unix.RESOLVE_NO_SYMLINKS
	ResolveNoMagicLinks = unix.RESOLVE_NO_MAGICLINKS
	ResolveNoXDev       = unix.RESOLVE_NO_XDEV
)

// shortPath is the longest path that is handed to the kernel from the stack.
const shortPath = 255

// openHow is struct open_how of openat2(2).
type openHow struct{ flags, mode, resolve uint64 }

// Openat2 opens path, relative to dirfd, under the given RESOLVE_ flags. mode
// counts only where flags make a file: openat2 refuses it otherwise. EAGAIN,
// which the kernel gives when a ".." raced with a rename, is for the caller.
func Openat2(dirfd int, path string, flags int, mode uint32, resolve uint64) (int, error) {
	how := openHow{flags: uint64(flags) | unix.O_CLOEXEC, resolve: resolve}
	if flags&unix.O_CREAT != 0 || flags&unix.O_TMPFILE == unix.O_TMPFILE {
		how.mode = uint64(mode & 0o7777)
	}
	var short [shortPath + 1]byte
	buf, err := cstring(short[:], path)
	if err != nil {
		return -1, err
	}
	for {
		fd, _, errno := syscall.Syscall6(unix.SYS_OPENAT2, uintptr(dirfd),
			uintptr(unsafe.Pointer(&buf[0])), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
		switch errno {
		case 0:
			return int(fd), nil
		case unix.EINTR:
			continue
		}
		return -1, errno
	}
}

// Openat is openat(2), close-on-exec.
func Openat(dirfd int, path string, flags int, mode uint32) (int, error) {
	var short [shortPath + 1]byte
	buf, err := cstring(short[:], path)
	if err != nil {
		return -1, err
	}
	for {
		fd, _, errno := syscall.Syscall6(unix.SYS_OPENAT, uintptr(dirfd),
			uintptr(unsafe.Pointer(&buf[0])), uintptr(flags|unix.O_CLOEXEC), uintptr(mode&0o7777), 0, 0)
		switch errno {
		case 0:
			return int(fd), nil
		case unix.EINTR:
			continue
		}
		return -1, errno
	}
}

// ClosePath closes an O_PATH descriptor, which flushes nothing and so never
// blocks.
func ClosePath(fd int) { _, _, _ = syscall.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0) }

// cstring puts s and a NUL into short, or into a new buffer when s is longer.
// A NUL inside s is EINVAL, as everywhere in the standard library.
func cstring(short []byte, s string) ([]byte, error) {
	buf := short
	if len(s) >= len(short) {
		buf = make([]byte, len(s)+1)
	}
	for i := 0; i < len(s); i++ {
		if s[i] == 0 {
			return nil, unix.EINVAL
		}
		buf[i] = s[i]
	}
	buf[len(s)] = 0
	return buf, nil
}

// HasOpenat2 reports whether openat2 answers under exactly the flags used
// here. ENOSYS (an old kernel) and EPERM (a seccomp filter) mean no.
func HasOpenat2(dirfd int) bool {
	fd, err := Openat2(dirfd, ".", unix.O_PATH|unix.O_DIRECTORY, 0,
		ResolveBeneath|ResolveNoSymlinks|ResolveNoMagicLinks|ResolveNoXDev)
	if err != nil {
		return false
	}
	_ = unix.Close(fd)
	return true
}
