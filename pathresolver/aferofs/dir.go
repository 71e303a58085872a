package aferofs

import (
	"errors"
	"io"
	"io/fs"

	"github.com/spf13/afero"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// dir is an open directory: a listing, taken at the first call that wants it.
type dir struct {
	r    *pathresolver.Resolver
	name string
	info fs.FileInfo
	list []fs.DirEntry
	read bool
}

var _ afero.File = (*dir)(nil)

// errDirectory is what reading or writing a directory gives.
var errDirectory = errors.New("is a directory")

func (d *dir) fail(op string) error {
	return &fs.PathError{Op: op, Path: d.name, Err: errDirectory}
}

func (d *dir) Name() string               { return d.name }
func (d *dir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *dir) Close() error               { return nil }
func (d *dir) Sync() error                { return nil }

func (d *dir) Read([]byte) (int, error)           { return 0, d.fail("read") }
func (d *dir) ReadAt([]byte, int64) (int, error)  { return 0, d.fail("read") }
func (d *dir) Write([]byte) (int, error)          { return 0, d.fail("write") }
func (d *dir) WriteAt([]byte, int64) (int, error) { return 0, d.fail("write") }
func (d *dir) WriteString(string) (int, error)    { return 0, d.fail("write") }
func (d *dir) Truncate(int64) error               { return d.fail("truncate") }

// Seek to the start begins the listing anew; no other seek means anything.
func (d *dir) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekStart {
		return 0, d.fail("seek")
	}
	d.read, d.list = false, nil
	return 0, nil
}

func (d *dir) next(n int) ([]fs.DirEntry, error) {
	if !d.read {
		list, err := d.r.ReadDir(d.name)
		if err != nil {
			return nil, err
		}
		d.list, d.read = list, true
	}
	if n > 0 && len(d.list) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.list) {
		n = len(d.list)
	}
	out := d.list[:n]
	d.list = d.list[n:]
	return out, nil
}

// Readdir describes the next n entries, all for n <= 0. An entry that goes
// away meanwhile is left out.
func (d *dir) Readdir(n int) ([]fs.FileInfo, error) {
	entries, err := d.next(n)
	infos := make([]fs.FileInfo, 0, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return infos, err
		}
		infos = append(infos, info)
	}
	return infos, err
}

// Readdirnames names the next n entries, all for n <= 0.
func (d *dir) Readdirnames(n int) ([]string, error) {
	entries, err := d.next(n)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}
