// Package aferofs offers a pathresolver.Resolver as an afero.Fs, for programs
// that are written against afero.
//
// The boundary stays in the resolver: every method passes its path on as it
// is and returns the resolver's own error, so a refusal is a
// *pathresolver.DeniedError here too. It does not rest on afero's BasePathFs,
// which follows symbolic links out of its base.
//
//	fs := aferofs.New(resolver)
//	err := afero.WriteFile(fs, "src/main.go", data, 0o644)
package aferofs

import (
	"io/fs"
	"os"
	"time"

	"github.com/spf13/afero"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Fs is the adapter. It also is an afero.Symlinker (and so an afero.Lstater).
type Fs struct{ r *pathresolver.Resolver }

var (
	_ afero.Fs        = (*Fs)(nil)
	_ afero.Symlinker = (*Fs)(nil)
)

// New returns the adapter for r, which stays the caller's to close.
func New(r *pathresolver.Resolver) *Fs { return &Fs{r: r} }

// Name returns "pinfold".
func (f *Fs) Name() string { return "pinfold" }

// Create makes or empties a file.
func (f *Fs) Create(name string) (afero.File, error) {
	return f.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open opens a file or directory for reading.
func (f *Fs) Open(name string) (afero.File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens a file. A directory, which can only be opened for reading,
// lists without hidden names.
func (f *Fs) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) == 0 {
		info, err := f.r.Stat(name)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			return &dir{r: f.r, name: name, info: info}, nil
		}
	}
	file, err := f.r.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return file, nil
}

// Mkdir makes one directory.
func (f *Fs) Mkdir(name string, perm fs.FileMode) error { return f.r.Mkdir(name, perm) }

// MkdirAll makes a directory and its missing parents.
func (f *Fs) MkdirAll(name string, perm fs.FileMode) error { return f.r.MkdirAll(name, perm) }

// Remove removes a file, a link or an empty directory.
func (f *Fs) Remove(name string) error { return f.r.Remove(name) }

// RemoveAll removes a path and all beneath it.
func (f *Fs) RemoveAll(name string) error { return f.r.RemoveAll(name) }

// Rename moves a name, replacing an existing target.
func (f *Fs) Rename(oldName, newName string) error {
	return f.r.Rename(oldName, newName, pathresolver.RenameReplace)
}

// Stat describes what the path leads to.
func (f *Fs) Stat(name string) (fs.FileInfo, error) { return f.r.Stat(name) }

// Chmod changes a mode.
func (f *Fs) Chmod(name string, mode fs.FileMode) error { return f.r.Chmod(name, mode) }

// Chown changes owner and group; -1 leaves one alone.
func (f *Fs) Chown(name string, uid, gid int) error { return f.r.Chown(name, uid, gid) }

// Chtimes changes access and modification time.
func (f *Fs) Chtimes(name string, atime, mtime time.Time) error {
	return f.r.Chtimes(name, atime, mtime)
}

// LstatIfPossible describes a link itself; it always can.
func (f *Fs) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	info, err := f.r.Lstat(name)
	return info, true, err
}

// SymlinkIfPossible makes a link.
func (f *Fs) SymlinkIfPossible(text, name string) error { return f.r.Symlink(text, name) }

// ReadlinkIfPossible reads a link.
func (f *Fs) ReadlinkIfPossible(name string) (string, error) { return f.r.Readlink(name) }
