package fsat

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

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

// struct linux_dirent64 of getdents64(2).
const (
	direntReclen = 16
	direntType   = 18
	direntName   = 19
)

// ReadDirent is getdents64(2): n bytes of raw entries, 0 at the end.
func ReadDirent(fd int, buf []byte) (n int, err error) {
	err = Retry(func() (e error) { n, e = unix.ReadDirent(fd, buf); return })
	return n, err
}

// NextDirent reads the entry at off in what ReadDirent filled: where its name
// stands in buf, its type (DT_), and the offset of the entry after it. ok is
// false at the end, and where a file system gave a record that does not fit.
func NextDirent(buf []byte, off int) (start, end int, typ byte, next int, ok bool) {
	if off+direntName > len(buf) {
		return 0, 0, 0, 0, false
	}
	next = off + int(binary.NativeEndian.Uint16(buf[off+direntReclen:]))
	if next <= off+direntName || next > len(buf) {
		return 0, 0, 0, 0, false
	}
	start = off + direntName
	n := bytes.IndexByte(buf[start:next], 0)
	if n < 0 {
		n = next - start
	}
	return start, start + n, buf[off+direntType], next, true
}
