package skilltest

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"github.com/pinfold-dev/pinfold/fileskills"
)

// aferoFile is what a file held when it was opened: not every afero.Fs keeps
// the promises of io.ReaderAt.
type aferoFile struct {
	*bytes.Reader
	info  fs.FileInfo
	place string
}

func (f aferoFile) Place() string              { return f.place }
func (f aferoFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f aferoFile) Close() error               { return nil }

func (f *aferoFS) open(place string) (fileskills.File, error) {
	info, err := f.stat(place)
	if err != nil {
		return nil, err
	}
	var data []byte
	if !info.IsDir() {
		if data, err = afero.ReadFile(f.fs, at(place)); err != nil {
			return nil, err
		}
	}
	return aferoFile{bytes.NewReader(data), info, place}, nil
}

// aferoDir is a directory: its name is its handle, since afero has none.
type aferoDir struct {
	fs    *aferoFS
	place string
}

func (f *aferoFS) openDir(place string) (fileskills.Dir, error) {
	info, err := f.stat(place)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, notDirectory("open", place)
	}
	return aferoDir{f, place}, nil
}

func (d aferoDir) Close() error  { return nil }
func (d aferoDir) Place() string { return d.place }

func (d aferoDir) ReadDir() ([]fs.DirEntry, error) {
	infos, err := afero.ReadDir(d.fs.fs, at(d.place))
	entries := make([]fs.DirEntry, len(infos))
	for i, info := range infos {
		entries[i] = fs.FileInfoToDirEntry(info)
	}
	return entries, err
}

func (d aferoDir) Open(name string) (fileskills.File, error) {
	return d.fs.open(path.Join(d.place, name))
}

func (d aferoDir) OpenDir(name string) (fileskills.Dir, error) {
	return d.fs.openDir(path.Join(d.place, name))
}

func (d aferoDir) Lstat(name string) (fs.FileInfo, error) {
	return d.fs.stat(path.Join(d.place, name))
}

func (d aferoDir) Readlink(name string) (string, error) {
	return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
}

// description is a fs.FileInfo that stays as it is: that of a file in memory
// tells what the file became.
type description struct {
	name  string
	size  int64
	mode  fs.FileMode
	mtime time.Time
}

func (d description) Name() string       { return d.name }
func (d description) Size() int64        { return d.size }
func (d description) Mode() fs.FileMode  { return d.mode }
func (d description) ModTime() time.Time { return d.mtime }
func (d description) IsDir() bool        { return d.mode.IsDir() }
func (d description) Sys() any           { return nil }

func notDirectory(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: syscall.ENOTDIR}
}

func isDirectory(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: syscall.EISDIR}
}

func notEmpty(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: syscall.ENOTEMPTY}
}

// named is err about the path that the caller gave.
func named(err error, unsafePath string) error {
	if err == nil {
		return nil
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return &fs.PathError{Op: "open", Path: unsafePath, Err: err}
}
