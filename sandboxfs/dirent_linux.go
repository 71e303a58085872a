package sandboxfs

import (
	"bytes"
	"encoding/binary"
	"sync"

	"golang.org/x/sys/unix"
)

// dirBuffer is how much of a directory is read by one system call, in bytes.
const dirBuffer = 32 << 10

var dirBuffers = sync.Pool{New: func() any { return new([dirBuffer]byte) }}

// dirent is one entry of getdents64(2). next is the offset after it, which
// the file system gave and understands in another descriptor too.
type dirent struct {
	ino  uint64
	next uint64
	typ  uint32 // S_IFMT bits, 0 if unknown
	name string
}

// eachEntry reads a directory from an offset on until yield returns false.
func eachEntry(fd int, from uint64, yield func(dirent) bool) error {
	if from != 0 {
		if _, err := unix.Seek(fd, int64(from), unix.SEEK_SET); err != nil {
			return err
		}
	}
	buf := dirBuffers.Get().(*[dirBuffer]byte)
	defer dirBuffers.Put(buf)
	for {
		size, err := unix.Getdents(fd, buf[:])
		if err == unix.EINTR {
			continue
		}
		if err == unix.ENOENT { // removed while it was open: it is empty
			return nil
		}
		if err != nil || size <= 0 {
			return err
		}
		for rest := buf[:size]; len(rest) > 19; {
			length := int(binary.NativeEndian.Uint16(rest[16:]))
			if length < 20 || length > len(rest) {
				return unix.EIO
			}
			name, _, _ := bytes.Cut(rest[19:length], []byte{0})
			entry := dirent{
				ino:  binary.NativeEndian.Uint64(rest),
				next: binary.NativeEndian.Uint64(rest[8:]),
				typ:  uint32(rest[18]) << 12,
				name: string(name),
			}
			if !yield(entry) {
				return nil
			}
			rest = rest[length:]
		}
	}
}
