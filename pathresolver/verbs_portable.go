//go:build !linux || portable

package pathresolver

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// errUnsupported is what a verb gives that os.Root has no safe way to do.
var errUnsupported = errors.ErrUnsupported

func (r *Resolver) open(unsafePath string, flag int, perm fs.FileMode) (*os.File, error) {
	op := OpRead
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_TRUNC|os.O_CREATE) != 0 {
		op = OpWrite
	}
	var f *os.File
	err := r.at(op, unsafePath, flag&os.O_EXCL == 0, 0, func(place string, w walked) (err error) {
		if w.missing > 1 || w.missing == 1 && flag&os.O_CREATE == 0 {
			return fs.ErrNotExist
		}
		if w.missing == 0 {
			if err := r.refuseKind(op, unsafePath, w.mode); err != nil {
				return err
			}
			if err := r.refuseTraverseOnly(op, unsafePath, w.place, w.mode); err != nil {
				return err
			}
			if w.mode.IsDir() {
				if err := r.refuseListing(unsafePath, w.place); err != nil {
					return err
				}
			}
		}
		// The file is emptied only after it has passed the checks.
		f, err = r.dir.OpenFile(place, flag&^os.O_TRUNC, perm)
		if err != nil {
			return err
		}
		err = r.same(op, unsafePath, place, f)
		if err == nil && op == OpWrite {
			var again bool
			if again, err = r.mayChange(op, unsafePath, place, f); again && err == nil {
				f.Close()
				if f, err = r.dir.OpenFile(place, flag&^(os.O_TRUNC|os.O_EXCL), perm); err != nil {
					return err
				}
				err = r.same(op, unsafePath, place, f)
			}
		}
		if err == nil && flag&os.O_TRUNC != 0 {
			err = f.Truncate(0)
		}
		if err != nil {
			f.Close()
			f = nil
		}
		return err
	})
	return f, pathError("open", unsafePath, err)
}

// same makes sure that what was opened is what stands at the place.
func (r *Resolver) same(op Op, unsafePath, place string, f *os.File) error {
	got, err := f.Stat()
	if err != nil {
		return err
	}
	want, err := r.dir.Lstat(place)
	if err != nil || !os.SameFile(got, want) {
		return r.refuse(op, unsafePath, RuleUnstable, "the path changed while it was resolved")
	}
	return r.refuseKind(op, unsafePath, got.Mode())
}

func (r *Resolver) refuseKind(op Op, unsafePath string, mode fs.FileMode) error {
	if mode.IsRegular() || mode.IsDir() || mode&fs.ModeSymlink != 0 {
		return nil
	}
	return r.refuse(op, unsafePath, RuleSpecialFile, "devices, FIFOs and sockets are not opened")
}

func (r *Resolver) stat(verb, unsafePath string, follow bool) (info fs.FileInfo, err error) {
	err = r.lookAt(unsafePath, follow, func(place string) (err error) {
		info, err = r.dir.Lstat(place)
		return err
	})
	return info, pathError(verb, unsafePath, err)
}

func (r *Resolver) readDir(unsafePath string) (entries []fs.DirEntry, err error) {
	err = r.at(OpRead, unsafePath, true, 0, func(place string, w walked) error {
		f, err := r.dir.Open(place)
		if err != nil {
			return err
		}
		defer f.Close()
		list, err := f.ReadDir(-1)
		for _, e := range list {
			if !r.VerdictIn(w.place, e.Name()).hidesEntry(e.Type()) {
				entries = append(entries, e)
			}
		}
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		return err
	})
	return entries, pathError("readdir", unsafePath, err)
}

func (r *Resolver) readlink(unsafePath string) (text string, err error) {
	err = r.lookAt(unsafePath, false, func(place string) (err error) {
		text, err = r.dir.Readlink(place)
		return err
	})
	return text, pathError("readlink", unsafePath, err)
}

func (r *Resolver) statfs(unsafePath string) (FSStat, error) {
	return FSStat{}, pathError("statfs", unsafePath, errUnsupported)
}

func (r *Resolver) mkdir(unsafePath string, perm fs.FileMode) error {
	return pathError("mkdir", unsafePath, r.entryAt(OpCreate, unsafePath, fs.ModeDir, func(place string) error {
		return r.dir.Mkdir(place, perm)
	}))
}

func (r *Resolver) mkdirAll(unsafePath string, perm fs.FileMode) error {
	w, err := r.locate(OpCreate, unsafePath, true)
	if err != nil {
		return pathError("mkdir", unsafePath, err)
	}
	if w.missing == 0 && !w.mode.IsDir() {
		return pathError("mkdir", unsafePath, errNotDirectory)
	}
	names := strings.Split(w.place, "/")
	for n := len(names) - w.missing + 1; n <= len(names); n++ {
		if d := r.Decide(OpCreate, strings.Join(names[:n], "/"), fs.ModeDir); d != nil {
			return d.asGiven(unsafePath)
		}
	}
	return pathError("mkdir", unsafePath, r.dir.MkdirAll(filepath.FromSlash(w.place), perm))
}

func (r *Resolver) symlink(text, unsafeNew string) error {
	return pathError("symlink", unsafeNew, r.entryAt(OpCreate, unsafeNew, fs.ModeSymlink, func(place string) error {
		return r.dir.Symlink(text, place)
	}))
}

func (r *Resolver) link(unsafeOld, unsafeNew string) error {
	return pathError("link", unsafeNew, r.entryAt(OpWrite, unsafeOld, 0, func(old string) error {
		return r.entryAt(OpCreate, unsafeNew, 0, func(place string) error {
			if d := r.DecideLink(filepath.ToSlash(old), filepath.ToSlash(place)); d != nil {
				return d.asGiven(unsafeNew)
			}
			before, err := r.count(old)
			if err != nil {
				return err
			}
			if err := r.dir.Link(old, place); err != nil {
				return err
			}
			r.NoteLink(before)
			return nil
		})
	}))
}

func (r *Resolver) rename(unsafeOld, unsafeNew string, how RenameHow) error {
	return pathError("rename", unsafeOld, r.entryAt(OpRename, unsafeOld, 0, func(old string) error {
		return r.entryAt(OpRename, unsafeNew, 0, func(place string) error {
			if d := r.DecideRename(filepath.ToSlash(old), filepath.ToSlash(place), how == RenameExchange); d != nil {
				return d.asGiven(unsafeOld)
			}
			if how == RenameExchange {
				return errUnsupported // os.Root cannot do it in one step
			}
			if err := r.decideArrivalAt(old, place); err != nil {
				return err
			}
			r.forgetLinks()
			if how == RenameNoReplace {
				return r.renameNew(old, place)
			}
			return r.dir.Rename(old, place)
		})
	}))
}

// renameNew moves a name where there is none. A file is linked first, which
// does not replace one that appears meanwhile; a directory replaces at most an
// empty one.
func (r *Resolver) renameNew(old, place string) error {
	if _, err := r.dir.Lstat(place); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, fs.ErrExist)
	}
	info, err := r.dir.Lstat(old)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return r.dir.Rename(old, place)
	}
	if err := r.dir.Link(old, place); err != nil {
		return err
	}
	return r.dir.Remove(old)
}

func (r *Resolver) remove(unsafePath string) error {
	return pathError("remove", unsafePath, r.entryAt(OpDelete, unsafePath, 0, func(place string) error {
		r.forgetLinks()
		return r.dir.Remove(place)
	}))
}

func (r *Resolver) removeAll(unsafePath string) error {
	err := r.entryAt(OpDelete, unsafePath, 0, func(place string) error {
		err := fs.WalkDir(r.dir.FS(), filepath.ToSlash(place), func(p string, _ fs.DirEntry, err error) error {
			if d := r.Decide(OpDelete, p, 0); d != nil {
				return d.asGiven(unsafePath)
			}
			return nil
		})
		if err != nil {
			return err
		}
		r.forgetLinks()
		return r.dir.RemoveAll(place)
	})
	return pathError("removeall", unsafePath, err)
}

// change is at for operations that change what they find. Mode and times
// belong to all names of a file, so hard links count.
func (r *Resolver) change(unsafePath string, act func(place string) error) error {
	return r.at(OpMeta, unsafePath, true, 0, func(place string, w walked) error {
		if w.mode.IsRegular() {
			f, err := r.dir.Open(place)
			if err != nil {
				return err
			}
			_, err = r.mayChange(OpMeta, unsafePath, place, f)
			if err = errors.Join(err, f.Close()); err != nil {
				return err
			}
		}
		return act(place)
	})
}

func (r *Resolver) chmod(unsafePath string, mode fs.FileMode) error {
	return pathError("chmod", unsafePath, r.change(unsafePath, func(place string) error {
		return r.dir.Chmod(place, mode)
	}))
}

func (r *Resolver) chown(unsafePath string, uid, gid int) error {
	return pathError("chown", unsafePath, r.change(unsafePath, func(place string) error {
		return r.dir.Chown(place, uid, gid)
	}))
}

func (r *Resolver) chtimes(unsafePath string, atime, mtime time.Time) error {
	return pathError("chtimes", unsafePath, r.change(unsafePath, func(place string) error {
		return r.dir.Chtimes(place, atime, mtime)
	}))
}

func (r *Resolver) truncate(unsafePath string, size int64) error {
	f, err := r.open(unsafePath, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return pathError("truncate", unsafePath, errors.Join(f.Truncate(size), f.Close()))
}

// OpenParent is not to be had over os.Root, which lends no descriptor.
func (r *Resolver) OpenParent(unsafePath string) (*Parent, error) {
	return nil, pathError("openparent", unsafePath, errUnsupported)
}
