//go:build !portable

package pathresolver

import (
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

func (r *Resolver) mkdir(unsafePath string, perm fs.FileMode) error {
	defer r.hold(OpCreate).release()
	err := r.at(OpCreate, unsafePath, fs.ModeDir, func(dir int, e entry) error {
		err := fsat.Retry(func() error { return unix.Mkdirat(dir, e.name, unixMode(perm)) })
		if err == nil {
			r.noteMadeIn(dir, e.name, e.place)
		}
		return err
	})
	return pathError("mkdir", unsafePath, err)
}

func (r *Resolver) mkdirAll(unsafePath string, perm fs.FileMode) error {
	rel, err := r.relative(OpCreate, unsafePath)
	if err != nil {
		return err
	}
	for range maxAttempts {
		err := r.mkdirOnce(unsafePath, rel, unixMode(perm))
		if err != errAgain {
			return pathError("mkdir", unsafePath, err)
		}
	}
	return r.refuse(OpCreate, unsafePath, RuleUnstable, "the path kept changing while it was resolved")
}

func (r *Resolver) mkdirOnce(unsafePath, rel string, mode uint32) error {
	defer r.hold(OpCreate).release()
	w, err := r.locate(OpCreate, unsafePath, rel, true)
	if err != nil {
		return err
	}
	if w.missing == 0 {
		if w.mode&unix.S_IFMT != unix.S_IFDIR {
			return unix.ENOTDIR
		}
		return nil
	}
	names := strings.Split(w.place, "/")
	have := len(names) - w.missing
	for n := have + 1; n <= len(names); n++ {
		if d := r.Decide(OpCreate, strings.Join(names[:n], "/"), fs.ModeDir); d != nil {
			return d.asGiven(unsafePath)
		}
	}
	for n := have; n < len(names); n++ {
		parent := "."
		if n > 0 {
			parent = strings.Join(names[:n], "/")
		}
		dir, err := r.OpenPlace(parent, unix.O_PATH|unix.O_DIRECTORY, 0)
		switch err {
		case nil:
		case unix.ELOOP, unix.EXDEV, unix.ENOENT, unix.ENOTDIR:
			return errAgain
		default:
			return err
		}
		err = fsat.Retry(func() error { return unix.Mkdirat(dir, names[n], mode) })
		if err == nil {
			r.noteMadeIn(dir, names[n], joinPlace(parent, names[n]))
		}
		_ = unix.Close(dir)
		if err == unix.EEXIST {
			return errAgain // somebody else's directory, or a file in the way
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Resolver) symlink(text, unsafeNew string) error {
	defer r.hold(OpCreate).release()
	err := r.at(OpCreate, unsafeNew, fs.ModeSymlink, func(dir int, e entry) error {
		return fsat.Retry(func() error { return unix.Symlinkat(text, dir, e.arg()) })
	})
	return linkError("symlink", text, unsafeNew, err)
}

func (r *Resolver) link(unsafeOld, unsafeNew string) error {
	defer r.hold(OpLink).release()
	err := r.at(OpWrite, unsafeOld, 0, func(oldDir int, old entry) error {
		decide := func(place string) *DeniedError { return r.DecideLink(old.place, place) }
		return r.atDecided(OpLink, unsafeNew, decide, func(newDir int, e entry) error {
			// Hold the source: what is counted is what gets the name.
			src, err := fsat.Openat(oldDir, old.name, unix.O_PATH|unix.O_NOFOLLOW, 0)
			if err != nil {
				return err
			}
			defer unix.Close(src)
			var st unix.Stat_t
			if err := fsat.Fstat(src, &st); err != nil {
				return err
			}
			if st.Mode&unix.S_IFMT == unix.S_IFDIR {
				return unix.EPERM
			}
			if kind := fsat.FileMode(st.Mode).Type(); kind != 0 {
				// Under its new name a link or a FIFO is what it would be if it were made there.
				if d := r.Decide(OpCreate, e.place, kind); d != nil {
					return d
				}
			}
			before, err := fileID(src)
			if err != nil {
				return err
			}
			err = fsat.Retry(func() error { return unix.Linkat(src, "", newDir, e.arg(), unix.AT_EMPTY_PATH) })
			if err == unix.ENOENT { // without CAP_DAC_READ_SEARCH
				err = fsat.Retry(func() error {
					return unix.Linkat(unix.AT_FDCWD, fsat.ProcPath(src), newDir, e.arg(), unix.AT_SYMLINK_FOLLOW)
				})
			}
			if err == nil {
				r.noteLinked(before, src, oldDir, old.name)
			}
			return err
		})
	})
	return linkError("link", unsafeOld, unsafeNew, err)
}

// noteLinked notes a link if nothing else happened to the file meanwhile: had
// its old name gone, the count from before would speak for a name elsewhere.
func (r *Resolver) noteLinked(before FileID, src, oldDir int, oldName string) {
	after, err := fileID(src)
	if err != nil || after.Links != before.Links+1 {
		return
	}
	var st unix.Stat_t
	if fsat.Lstatat(oldDir, oldName, &st) == nil && st.Dev == before.Dev && st.Ino == before.Ino {
		r.NoteLink(before)
	}
}

func (r *Resolver) rename(unsafeOld, unsafeNew string, how RenameHow) error {
	flags := uint(0)
	switch how {
	case RenameReplace:
	case RenameNoReplace:
		flags = unix.RENAME_NOREPLACE
	case RenameExchange:
		flags = unix.RENAME_EXCHANGE
	default:
		return linkError("rename", unsafeOld, unsafeNew, unix.EINVAL)
	}
	defer r.hold(OpRename).release()
	err := r.at(OpRename, unsafeOld, 0, func(oldDir int, old entry) error {
		move := func(newDir int, e entry) error {
			if d := r.DecideRename(old.place, e.place, how == RenameExchange); d != nil {
				return d.asGiven(unsafeOld)
			}
			if old.place == e.place {
				return unix.EINVAL
			}
			if err := r.decideArrivals(oldDir, old, newDir, e, how == RenameExchange); err != nil {
				if d, ok := err.(*DeniedError); ok {
					return d.asGiven(unsafeOld)
				}
				return err
			}
			gone := func() {}
			if how == RenameReplace && r.hasNotes() {
				gone = r.removing(newDir, e.name)
			}
			err := fsat.Retry(func() error { return unix.Renameat2(oldDir, old.arg(), newDir, e.arg(), flags) })
			if err == nil {
				gone()
			}
			return err
		}
		if e, ok := sibling(unsafeOld, unsafeNew, old); ok && r.Decide(OpRename, e.place, 0) == nil {
			return move(oldDir, e)
		}
		return r.at(OpRename, unsafeNew, 0, move)
	})
	return linkError("rename", unsafeOld, unsafeNew, err)
}

// sibling is the entry of unsafeNew if that names a sibling of old, whose
// directory is held already.
func sibling(unsafeOld, unsafeNew string, old entry) (entry, bool) {
	oldParent, _, _ := splitLast(unsafeOld)
	parent, name, slash := splitLast(unsafeNew)
	if parent != oldParent || name == "" || name == "." || name == ".." || len(name) > maxName || strings.IndexByte(name, 0) >= 0 {
		return entry{}, false
	}
	dir, _ := splitPlace(old.place)
	return entry{name: name, place: joinPlace(dir, name), slash: slash}, true
}

// linkError wraps what the system said about two names.
func linkError(op, old, new string, err error) error {
	switch e := err.(type) {
	case nil:
		return nil
	case *DeniedError:
		return e
	}
	return &os.LinkError{Op: op, Old: old, New: new, Err: err}
}
