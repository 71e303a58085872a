package skilltest

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/afero"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// OnAfero is an FS over fsys, whose root is the sandbox: everything may be
// read, and what lies beneath a write path written. fsys must hold no links.
func OnAfero(fsys afero.Fs, writePaths ...string) fileskills.FS {
	f := &aferoFS{fs: fsys}
	for _, w := range writePaths {
		f.write = append(f.write, path.Clean(w))
	}
	slices.Sort(f.write)
	return f
}

// Mem is OnAfero over memory, with files in it: content by place; a name that
// ends in "/" is a directory. The afero.Fs is for looking at what became of
// them.
func Mem(files map[string]string, writePaths ...string) (fileskills.FS, afero.Fs) {
	mem := afero.NewMemMapFs()
	for name, content := range files {
		var err error
		if strings.HasSuffix(name, "/") {
			err = mem.MkdirAll(path.Clean("/"+name), 0o755)
		} else {
			err = errors.Join(mem.MkdirAll(path.Dir("/"+name), 0o755), afero.WriteFile(mem, "/"+name, []byte(content), 0o644))
		}
		if err != nil {
			panic("skilltest: memory refuses " + name + ": " + err.Error())
		}
	}
	return OnAfero(mem, writePaths...), mem
}

type aferoFS struct {
	fs    afero.Fs
	write []string

	mu sync.Mutex // held by every change, and while a commit compares
}

var _ fileskills.FS = (*aferoFS)(nil)

// place decides about a name. Without links a place is a matter of text.
func (f *aferoFS) place(op access.Op, unsafePath string) (place string, err error) {
	denied := func(rule access.Code, reason string) (string, error) {
		d := &pathresolver.DeniedError{Op: op, Path: unsafePath, Place: place, Rule: rule, Reason: reason}
		if op != access.OpRead {
			d.Allowed = f.write
		}
		return "", d
	}
	switch {
	case unsafePath == "":
		return denied(pathresolver.RuleInvalidPath, "the path is empty")
	case strings.IndexByte(unsafePath, 0) >= 0:
		return denied(pathresolver.RuleInvalidPath, "the path holds a NUL byte")
	case len(unsafePath) > 4095:
		return denied(pathresolver.RuleInvalidPath, "the path is longer than 4095 bytes")
	case strings.HasPrefix(unsafePath, "/"):
		return denied(pathresolver.RuleOutsideRoot, "the path is absolute and lies outside the sandbox root")
	}
	place = path.Clean(unsafePath)
	if place == ".." || strings.HasPrefix(place, "../") {
		place = ""
		return denied(pathresolver.RuleOutsideRoot, "the path climbs out of the sandbox root")
	}
	if op != access.OpRead && !slices.ContainsFunc(f.write, func(w string) bool {
		return w == "." || place == w || strings.HasPrefix(place, w+"/")
	}) {
		return denied(pathresolver.RuleNoWritePath, "no write path covers it")
	}
	if op != access.OpRead && op != access.OpWrite && op != access.OpCreate && slices.Contains(f.write, place) {
		return denied(pathresolver.RuleWritePathSelf, "a write path itself is not moved or removed")
	}
	return place, nil
}

func (f *aferoFS) Resolve(a access.Action, unsafePath string) (string, error) {
	op, ok := a.Op()
	if !ok {
		return "", fs.ErrPermission
	}
	return f.place(op, unsafePath)
}

func (f *aferoFS) WritePaths() []string { return slices.Clone(f.write) }

// at is the name of a place in fsys.
func at(place string) string { return path.Join("/", place) }

func (f *aferoFS) Stat(unsafePath string) (fs.FileInfo, error) {
	place, err := f.place(access.OpRead, unsafePath)
	if err != nil {
		return nil, err
	}
	info, err := f.stat(place)
	return info, named(err, unsafePath)
}

// stat tells what is missing from what lies beneath a file, which not every
// afero.Fs does by itself.
func (f *aferoFS) stat(place string) (fs.FileInfo, error) {
	info, err := f.fs.Stat(at(place))
	for dir := path.Dir(place); errors.Is(err, fs.ErrNotExist) && dir != "."; dir = path.Dir(dir) {
		if up, e := f.fs.Stat(at(dir)); e == nil {
			if !up.IsDir() {
				err = notDirectory("stat", place)
			}
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return description{path.Base(place), info.Size(), info.Mode(), info.ModTime()}, nil
}

func (f *aferoFS) Lstat(unsafePath string) (fs.FileInfo, error) { return f.Stat(unsafePath) }

func (f *aferoFS) Open(unsafePath string) (fileskills.File, error) {
	place, err := f.place(access.OpRead, unsafePath)
	if err != nil {
		return nil, err
	}
	file, err := f.open(place)
	return file, named(err, unsafePath)
}

func (f *aferoFS) OpenDir(unsafePath string) (fileskills.Dir, error) {
	place, err := f.place(access.OpRead, unsafePath)
	if err != nil {
		return nil, err
	}
	d, err := f.openDir(place)
	return d, named(err, unsafePath)
}

func (f *aferoFS) MkdirAll(unsafePath string) (bool, error) {
	place, err := f.place(access.OpCreate, unsafePath)
	if err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for dir := place; dir != "."; dir = path.Dir(dir) {
		if info, err := f.fs.Stat(at(dir)); err == nil && !info.IsDir() {
			if dir == place {
				return false, &fs.PathError{Op: "mkdir", Path: unsafePath, Err: fs.ErrExist}
			}
			return false, notDirectory("mkdir", unsafePath)
		}
	}
	_, err = f.fs.Stat(at(place))
	return errors.Is(err, fs.ErrNotExist), f.fs.MkdirAll(at(place), 0o777)
}

func (f *aferoFS) Remove(unsafePath string) error {
	place, err := f.place(access.OpDelete, unsafePath)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return named(f.remove(place), unsafePath)
}

// remove leaves a directory alone that is not empty, which not every afero.Fs
// does by itself.
func (f *aferoFS) remove(place string) error {
	if entries, err := afero.ReadDir(f.fs, at(place)); err == nil && len(entries) > 0 {
		return notEmpty("remove", place)
	}
	return f.fs.Remove(at(place))
}

func (f *aferoFS) Rename(unsafeOld, unsafeNew string, overwrite bool) error {
	from, err := f.place(access.OpRename, unsafeOld)
	if err != nil {
		return err
	}
	to, err := f.place(access.OpRename, unsafeNew)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rename(from, to, unsafeOld, unsafeNew, overwrite)
}

func (f *aferoFS) rename(from, to, unsafeOld, unsafeNew string, overwrite bool) error {
	source, err := f.stat(from)
	if err != nil {
		return named(err, unsafeOld)
	}
	if from == to || source.IsDir() && strings.HasPrefix(to, from+"/") {
		return &fs.PathError{Op: "rename", Path: unsafeNew, Err: syscall.EINVAL}
	}
	target, err := f.stat(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err = f.stat(path.Dir(to))
	case err != nil:
	case !overwrite:
		err = fs.ErrExist
	case target.IsDir() && !source.IsDir():
		err = syscall.EISDIR
	case !target.IsDir() && source.IsDir():
		err = syscall.ENOTDIR
	case target.IsDir():
		err = f.remove(to)
	}
	if err != nil {
		return named(err, unsafeNew)
	}
	return named(f.fs.Rename(at(from), at(to)), unsafeOld)
}
