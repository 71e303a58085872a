package pathresolver

import (
	"io"
	"io/fs"
	"syscall"
)

// FS returns the resolver as an fs.FS: read-only, under the naming rules of
// io/fs. It also is an fs.ReadDirFS, fs.ReadFileFS, fs.StatFS and
// fs.ReadLinkFS.
func (r *Resolver) FS() fs.FS { return ioFS{r} }

type ioFS struct{ r *Resolver }

var (
	_ fs.ReadDirFS  = ioFS{}
	_ fs.ReadFileFS = ioFS{}
	_ fs.StatFS     = ioFS{}
	_ fs.ReadLinkFS = ioFS{}
)

func valid(op, name string) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return nil
}

func (f ioFS) Open(name string) (fs.File, error) {
	if err := valid("open", name); err != nil {
		return nil, err
	}
	info, err := f.r.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return &ioDir{r: f.r, name: name, info: info}, nil
	}
	file, err := f.r.Open(name)
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (f ioFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := valid("readdir", name); err != nil {
		return nil, err
	}
	return f.r.ReadDir(name)
}

func (f ioFS) ReadFile(name string) ([]byte, error) {
	if err := valid("readfile", name); err != nil {
		return nil, err
	}
	return f.r.ReadFile(name)
}

func (f ioFS) Stat(name string) (fs.FileInfo, error) {
	if err := valid("stat", name); err != nil {
		return nil, err
	}
	return f.r.Stat(name)
}

func (f ioFS) Lstat(name string) (fs.FileInfo, error) {
	if err := valid("lstat", name); err != nil {
		return nil, err
	}
	return f.r.Lstat(name)
}

func (f ioFS) ReadLink(name string) (string, error) {
	if err := valid("readlink", name); err != nil {
		return "", err
	}
	return f.r.Readlink(name)
}

// ioDir is an open directory: a listing, taken at the first ReadDir.
type ioDir struct {
	r    *Resolver
	name string
	info fs.FileInfo
	list []fs.DirEntry
	read bool
}

func (d *ioDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *ioDir) Close() error               { return nil }

func (d *ioDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: syscall.EISDIR}
}

func (d *ioDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if !d.read {
		list, err := d.r.ReadDir(d.name)
		if err != nil {
			return nil, err
		}
		d.list, d.read = list, true
	}
	if n <= 0 || n > len(d.list) {
		if n > 0 && len(d.list) == 0 {
			return nil, io.EOF
		}
		n = len(d.list)
	}
	out := d.list[:n:n]
	d.list = d.list[n:]
	return out, nil
}
