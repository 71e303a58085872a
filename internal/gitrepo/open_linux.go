package gitrepo

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// opener opens files for Inspect.
type opener struct {
	plain bool // without openat2, which Linux has since 5.6 and some filters refuse
}

// open opens path for reading, if no link stands anywhere in it. It does not
// wait at a FIFO and does not make a terminal its own. The descriptor is the
// caller's.
func (o *opener) open(path string, flags int) (int, error) {
	flags |= unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NOCTTY
	fd, err := -1, error(unix.ENOSYS)
	if !o.plain {
		fd, err = fsat.Openat2(unix.AT_FDCWD, path, flags, 0, fsat.ResolveNoSymlinks)
		o.plain = err == unix.ENOSYS || err == unix.EPERM || err == unix.EAGAIN
	}
	if o.plain {
		fd, err = fsat.Openat(unix.AT_FDCWD, path, flags, 0)
	}
	switch err {
	case nil:
		return fd, nil
	case unix.ELOOP:
		return -1, errLink
	case unix.ENXIO, unix.ENODEV: // a socket; a device without its driver
		return -1, errSpecial
	}
	return -1, err
}

// nullDevice is /dev/null, wherever it stands.
var nullDevice = unix.Mkdev(1, 3)

// read reads a regular file of at most limit bytes. For /dev/null, with which one
// tells git that there is no such file, it is an empty one.
func (o *opener) read(path string, limit int) ([]byte, error) {
	fd, err := o.open(path, unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	defer fsat.ClosePath(fd)
	var st unix.Stat_t
	if err := fsat.Fstat(fd, &st); err != nil {
		return nil, err
	}
	switch {
	case st.Mode&unix.S_IFMT == unix.S_IFDIR:
		return nil, errDirectory
	case st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == nullDevice:
		return nil, nil
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, errSpecial
	case st.Size > int64(limit):
		return nil, errTooLarge
	}
	// One byte more than it should have shows a file that grew.
	text := make([]byte, st.Size+1)
	n := 0
	for n < len(text) {
		var got int
		err := fsat.Retry(func() (err error) { got, err = unix.Read(fd, text[n:]); return err })
		if err != nil {
			return nil, err
		}
		if got == 0 {
			return text[:n], nil
		}
		n += got
	}
	return nil, errChanged
}

// stream opens a regular file to be read in pieces. It is the caller's.
func (o *opener) stream(path string) (io.ReadCloser, error) {
	fd, err := o.open(path, unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errSpecial
	}
	if err != nil {
		_ = f.Close() // nothing was read
		return nil, err
	}
	return f, nil
}

// list reads the names of a directory, of which there may be limit.
func (o *opener) list(path string, limit int) ([]os.DirEntry, error) {
	fd, err := o.open(path, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	dir := os.NewFile(uintptr(fd), path)
	defer func() { _ = dir.Close() }() // was only read
	entries, err := dir.ReadDir(limit + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err == nil && len(entries) > limit {
		err = errTooMany
	}
	return entries, err
}

// linked reports whether a file has a second name.
func linked(e os.DirEntry) bool {
	info, err := e.Info()
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1
}
