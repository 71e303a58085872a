package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// projectFS reads the regular files and directories of one directory. Whoever
// wrote them may have made a link of any: what lies outside is never opened,
// so that no message about a file can quote another.
type projectFS struct{ root *os.Root }

var (
	errLeadsOut   = errors.New("a link leads out of the project")
	errNotRegular = errors.New("not a regular file")
)

func openProject(dir string) (*projectFS, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &projectFS{root}, nil
}

// close lets go of the directory.
func (p *projectFS) close() { _ = p.root.Close() } // only read

// Open opens what name leads to. A device or a FIFO is refused, and not waited
// for.
func (p *projectFS) Open(name string) (fs.File, error) {
	info, err := p.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	f, err := p.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, ledOut(err)
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, errors.Join(&fs.PathError{Op: "open", Path: name, Err: errNotRegular}, err, f.Close())
	}
	return f, nil
}

// Stat is what name leads to.
func (p *projectFS) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	info, err := p.root.Stat(filepath.FromSlash(name))
	return info, ledOut(err)
}

// ledOut says what os.Root means, which has no error value for it.
func ledOut(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) && strings.Contains(pe.Err.Error(), "escapes from parent") {
		return &fs.PathError{Op: pe.Op, Path: pe.Path, Err: errLeadsOut}
	}
	return err
}

// readWithin reads a file of at most limit bytes, only where the project, or
// the directory that it is named in, holds it.
func readWithin(root, file string, limit int64) ([]byte, error) {
	if err := refuseGiven("the file", file); err != nil {
		return nil, err
	}
	dir, name, _ := locateWithin(root, file)
	fsys, err := openProject(dir)
	if err != nil {
		return nil, err
	}
	defer fsys.close()
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: file, Err: errNotRegular}
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, &fs.PathError{Op: "read", Path: file, Err: errors.New("longer than " + itoa(int(limit)) + " bytes")}
	}
	return data, err
}

// locateWithin is locate for who reads nothing outside: what lies in the
// project is looked for there, whatever else the working directory holds.
func locateWithin(root, file string) (dir, name, base string) {
	absRoot, err := filepath.Abs(root)
	abs, err2 := filepath.Abs(file)
	if err == nil && err2 == nil {
		if rel, err := filepath.Rel(absRoot, abs); err == nil && filepath.IsLocal(rel) {
			root = filepath.Clean(root) // "" is "."
			return root, filepath.ToSlash(rel), root
		}
	}
	return locate(root, file)
}
