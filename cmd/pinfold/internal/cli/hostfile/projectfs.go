package hostfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Project reads the regular files and directories of one directory. Any of them may
// have been made a link by whoever wrote them. What lies outside is never opened, so
// no message about a file can quote another.
type Project struct{ Root *os.Root }

var (
	errLeadsOut   = errors.New("a link leads out of the project")
	errNotRegular = errors.New("not a regular file")
)

// OpenProject opens a directory, which the caller closes.
func OpenProject(dir string) (*Project, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Project{root}, nil
}

// Close lets go of the directory.
func (p *Project) Close() { _ = p.Root.Close() } // only read

// Open opens what name leads to. A device or a FIFO is refused, and not waited
// for.
func (p *Project) Open(name string) (fs.File, error) {
	info, err := p.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	f, err := p.Root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, ledOut(err)
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, errors.Join(&fs.PathError{Op: "open", Path: name, Err: errNotRegular}, err, f.Close())
	}
	return f, nil
}

// Stat is what name leads to.
func (p *Project) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	info, err := p.Root.Stat(filepath.FromSlash(name))
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

// ReadWithin reads a file of at most limit bytes, only where the project, or
// the directory that it is named in, holds it.
func ReadWithin(root, file string, limit int64) ([]byte, error) {
	if err := Refuse("the file", file); err != nil {
		return nil, err
	}
	dir, name, _ := LocateWithin(root, file)
	fsys, err := OpenProject(dir)
	if err != nil {
		return nil, err
	}
	defer fsys.Close()
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
		return nil, &fs.PathError{Op: "read", Path: file, Err: errors.New("longer than " + strconv.Itoa(int(limit)) + " bytes")}
	}
	return data, err
}

// LocateWithin is Locate for callers that read nothing outside the project: what lies
// in the project is looked for there, whatever else the working directory holds.
func LocateWithin(root, file string) (dir, name, base string) {
	absRoot, err := filepath.Abs(root)
	abs, err2 := filepath.Abs(file)
	if err == nil && err2 == nil {
		if rel, err := filepath.Rel(absRoot, abs); err == nil && filepath.IsLocal(rel) {
			root = filepath.Clean(root) // "" is "."
			return root, filepath.ToSlash(rel), root
		}
	}
	return Locate(root, file)
}

// Locate is the directory in which a file and what it extends are found, the file's
// name there, and the directory that messages put before such names. A file beneath
// the working directory keeps the name it was given, unless that directory lies in the
// project. For other files in the project it is the project, so that `profile:
// ../../policy.yaml` is found however the file was named. For all others it is the
// file's own directory.
func Locate(root, file string) (dir, name, base string) {
	beneath := func(dir string) (rel string, ok bool) {
		absDir, err := filepath.Abs(dir)
		abs, err2 := filepath.Abs(file)
		if err != nil || err2 != nil {
			return "", false
		}
		rel, err = filepath.Rel(absDir, abs)
		return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
	}
	rel, inProject := beneath(root)
	if name := filepath.ToSlash(filepath.Clean(file)); fs.ValidPath(name) && (!inProject || len(rel) <= len(name)) {
		return ".", name, "."
	}
	if inProject {
		return root, rel, root
	}
	return filepath.Dir(file), filepath.Base(file), filepath.Dir(file)
}

// Named says of an error with a path which file it is about.
func Named(file string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("'%s' cannot be read: %w", file, pe.Err)
	}
	return err
}

// Display is the name of a file as messages show it: beneath the working
// directory as it was given, and cleaned.
func Display(name string) string { return filepath.ToSlash(filepath.Clean(name)) }

// Replace writes a new file beside the old one and renames it, so that the file is
// whole at every moment. A missing file is made.
func Replace(file string, data []byte) error {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".pinfold-fmt-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}
