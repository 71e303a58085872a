//go:build !linux

package gitrepo

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// opener opens files for Inspect. Here a link in the directories above a file
// is followed; what stands at the name itself is looked at first and compared
// with what was opened.
type opener struct{}

func (o *opener) open(path string) (*os.File, fs.FileInfo, error) {
	before, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, nil, err
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, nil, errLink
	case !before.IsDir() && !before.Mode().IsRegular() && path != os.DevNull: // with which one tells git that there is no such file
		return nil, nil, errSpecial
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a FIFO
	if err != nil {
		return nil, nil, err
	}
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = errChanged
	}
	if err != nil {
		_ = f.Close() // nothing was done with it
		return nil, nil, err
	}
	return f, after, nil
}

// read reads a regular file of at most limit bytes.
func (o *opener) read(path string, limit int) ([]byte, error) {
	f, info, err := o.open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // was only read
	if info.IsDir() {
		return nil, errDirectory
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(text) > limit {
		err = errTooLarge
	}
	return text, err
}

// stream opens a regular file to be read in pieces. It is the caller's.
func (o *opener) stream(path string) (io.ReadCloser, error) {
	f, info, err := o.open(path)
	if err == nil && info.IsDir() {
		_ = f.Close() // nothing was read
		err = errDirectory
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// list reads the names of a directory, of which there may be limit.
func (o *opener) list(path string, limit int) ([]os.DirEntry, error) {
	dir, info, err := o.open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // was only read
	if !info.IsDir() {
		return nil, syscall.ENOTDIR
	}
	entries, err := dir.ReadDir(limit + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err == nil && len(entries) > limit {
		err = errTooMany
	}
	return entries, err
}

// linked reports whether a file has a second name, which is not told here.
func linked(os.DirEntry) bool { return false }
