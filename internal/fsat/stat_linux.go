package fsat

import (
	"errors"
	"strconv"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Identity is what tells one file object from another.
type Identity struct {
	Dev, Ino uint64
	Mount    uint64 // mount id, 0 where the kernel does not tell (before 5.8)
	Mode     uint32 // type and permission bits
}

// Identify asks for the identity of the object behind fd; O_PATH will do.
func Identify(fd int) (Identity, error) {
	var sx unix.Statx_t
	err := Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC,
		unix.STATX_TYPE|unix.STATX_MODE|unix.STATX_INO|unix.STATX_MNT_ID, &sx)
	if errors.Is(err, unix.ENOSYS) {
		var st unix.Stat_t
		if err := Fstat(fd, &st); err != nil {
			return Identity{}, err
		}
		return Identity{Dev: st.Dev, Ino: st.Ino, Mode: st.Mode}, nil
	}
	if err != nil {
		return Identity{}, err
	}
	id := Identity{
		Dev:  unix.Mkdev(sx.Dev_major, sx.Dev_minor),
		Ino:  sx.Ino,
		Mode: uint32(sx.Mode),
	}
	if sx.Mask&unix.STATX_MNT_ID != 0 {
		id.Mount = sx.Mnt_id
	}
	return id, nil
}

// SameMount reports whether two objects lie on one mount: by mount id where
// the kernel tells it, by device otherwise.
func SameMount(a, b Identity) bool {
	if a.Mount != 0 && b.Mount != 0 {
		return a.Mount == b.Mount
	}
	return a.Dev == b.Dev
}

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

// Fstat is fstat(2).
func Fstat(fd int, st *unix.Stat_t) error {
	for {
		err := unix.Fstat(fd, st)
		if err != unix.EINTR {
			return err
		}
	}
}

// Lstatat is fstatat(2) of name in dirfd, not following a link.
func Lstatat(dirfd int, name string, st *unix.Stat_t) error {
	return Retry(func() error { return unix.Fstatat(dirfd, name, st, unix.AT_SYMLINK_NOFOLLOW) })
}

// Readlink reads the link behind fd, which was opened O_PATH|O_NOFOLLOW.
func Readlink(fd int) (string, error) {
	for size := 256; ; size *= 2 {
		buf := make([]byte, size)
		var n int
		err := Retry(func() (e error) { n, e = unix.Readlinkat(fd, "", buf); return })
		if err != nil {
			return "", err
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}

// Deleted is how the path of what was removed ends. A name can end so, too.
const Deleted = " (deleted)"

// PathOf is what the kernel calls the file that fd holds at this moment, as an absolute
// path without links. That of what was removed ends in Deleted, and what lies outside of
// the root of this process has one that does not begin with "/".
func PathOf(fd int) (string, error) {
	var name [24]byte
	var buf [unix.PathMax]byte
	n, err := unix.Readlinkat(procFDs(), string(strconv.AppendInt(name[:0], int64(fd), 10)), buf[:])
	switch {
	case err != nil:
		return "", err
	case n == len(buf):
		return "", unix.ENAMETOOLONG
	}
	return string(buf[:n]), nil
}

// procFDs is the directory of this process's descriptors, held open: to come by its path
// takes as long again. -1 where there is no procfs, which readlinkat(2) says no to.
var procFDs = sync.OnceValue(func() int {
	fd, err := Openat(unix.AT_FDCWD, "/proc/self/fd", unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return -1
	}
	return fd
})

// OnProcfs reports whether fd lies on procfs, whose links can jump anywhere.
func OnProcfs(fd int) (bool, error) {
	var st unix.Statfs_t
	if err := Retry(func() error { return unix.Fstatfs(fd, &st) }); err != nil {
		return false, err
	}
	return st.Type == unix.PROC_SUPER_MAGIC, nil
}

// ProcPath names fd for the few system calls that have no form for
// descriptors. It leads to the object that fd holds, wherever that is now.
func ProcPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// Retry repeats call while a signal interrupts it.
func Retry(call func() error) error {
	for {
		err := call()
		if err != unix.EINTR {
			return err
		}
	}
}
