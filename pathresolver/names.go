package pathresolver

import (
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// RenameHow says what Rename does about a target that exists.
type RenameHow uint8

// How Rename treats its target.
const (
	RenameReplace   RenameHow = iota // an existing target is replaced, as by rename(2)
	RenameNoReplace                  // an existing target is fs.ErrExist
	RenameExchange                   // both must exist and change places
)

// Mkdir makes one directory.
func (r *Resolver) Mkdir(unsafePath string, perm fs.FileMode) error {
	defer r.hold(access.OpCreate).release()
	err := r.at(access.OpCreate, unsafePath, fs.ModeDir, func(dir handle, e entry) error {
		err := mkdirat(dir, e.name, unixMode(perm))
		if err == nil {
			r.noteMadeIn(dir, e.name, e.place)
		}
		return err
	})
	return pathError("mkdir", unsafePath, err)
}

// MkdirAll makes a directory and those of its parents that are missing. It
// decides about all of them before it makes the first.
func (r *Resolver) MkdirAll(unsafePath string, perm fs.FileMode) error {
	rel, err := r.relative(access.OpCreate, unsafePath)
	if err != nil {
		return err
	}
	for range maxAttempts {
		err := r.mkdirOnce(unsafePath, rel, unixMode(perm))
		if err != errAgain {
			return pathError("mkdir", unsafePath, err)
		}
	}
	return r.refuse(access.OpCreate, unsafePath, RuleUnstable, "the path kept changing while it was resolved")
}

func (r *Resolver) mkdirOnce(unsafePath, rel string, mode uint32) error {
	defer r.hold(access.OpCreate).release()
	w, err := r.locate(access.OpCreate, unsafePath, rel, true)
	if err != nil {
		return err
	}
	if w.missing == 0 {
		if w.mode&syscall.S_IFMT != syscall.S_IFDIR {
			return syscall.ENOTDIR
		}
		return nil
	}
	names := strings.Split(w.place, "/")
	have := len(names) - w.missing
	for n := have + 1; n <= len(names); n++ {
		if d := r.denies(access.OpCreate, strings.Join(names[:n], "/"), fs.ModeDir); d != nil {
			return d.asGiven(unsafePath)
		}
	}
	for n := have; n < len(names); n++ {
		parent := "."
		if n > 0 {
			parent = strings.Join(names[:n], "/")
		}
		dir, err := r.openPlace(parent, oPath|oDirectory, 0)
		switch err {
		case nil:
		case syscall.ELOOP, syscall.EXDEV, syscall.ENOENT, syscall.ENOTDIR:
			return errAgain
		default:
			return err
		}
		err = mkdirat(dir, names[n], mode)
		if err == nil {
			r.noteMadeIn(dir, names[n], joinPlace(parent, names[n]))
		}
		closeHandle(dir)
		if err == syscall.EEXIST {
			return errAgain // somebody else's directory, or a file in the way
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Symlink makes a link with the given text, which is not examined: following
// it is what is decided about.
func (r *Resolver) Symlink(text, unsafeNew string) error {
	defer r.hold(access.OpCreate).release()
	err := r.at(access.OpCreate, unsafeNew, fs.ModeSymlink, func(dir handle, e entry) error {
		return symlinkat(text, dir, e.arg())
	})
	return linkError("symlink", text, unsafeNew, err)
}

// Link gives a file a second name. Both must be writable. It does not follow
// a last link.
func (r *Resolver) Link(unsafeOld, unsafeNew string) error {
	defer r.hold(access.OpLink).release()
	err := r.at(access.OpWrite, unsafeOld, 0, func(oldDir handle, old entry) error {
		decide := func(place string) *DeniedError { return r.decideLink(r.grant, old.place, place) }
		return r.atDecided(access.OpLink, unsafeNew, decide, func(newDir handle, e entry) error {
			// Hold the source: what is counted is what gets the name.
			src, err := openat(oldDir, old.name, oPath|oNoFollow, 0)
			if err != nil {
				return err
			}
			defer closeHandle(src)
			var st stat
			if err := fstat(src, &st); err != nil {
				return err
			}
			if st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
				return syscall.EPERM
			}
			if kind := fsat.FileMode(st.Mode).Type(); kind != 0 {
				// Under its new name a link or a FIFO is what it would be if it were made there.
				if d := r.denies(access.OpCreate, e.place, kind); d != nil {
					return d
				}
			}
			before, err := fileID(src)
			if err != nil {
				return err
			}
			err = linkat(src, newDir, e.arg())
			if err == nil {
				r.noteLinked(before, &st, src, oldDir, old.name)
			}
			return err
		})
	})
	return linkError("link", unsafeOld, unsafeNew, err)
}

// noteLinked notes a link, unless something else happened to the file meanwhile: if
// its old name had been taken away, the earlier count would vouch for a name outside.
func (r *Resolver) noteLinked(before resolved.FileID, was *stat, src, oldDir handle, oldName string) {
	after, err := fileID(src)
	if err != nil || after.Links != before.Links+1 {
		return
	}
	var now stat
	if lstatat(oldDir, oldName, &now) == nil && sameFile(&now, was) {
		r.noteLink(before)
	}
}

// Rename moves a name: both must be writable, since the old one goes. What
// could hold something that a hide or protect glob tells apart does not move.
func (r *Resolver) Rename(unsafeOld, unsafeNew string, how RenameHow) error {
	if how > RenameExchange {
		return linkError("rename", unsafeOld, unsafeNew, syscall.EINVAL)
	}
	defer r.hold(access.OpRename).release()
	err := r.at(access.OpRename, unsafeOld, 0, func(oldDir handle, old entry) error {
		move := func(newDir handle, e entry) error {
			if d := r.decideRename(r.grant, old.place, e.place, how == RenameExchange); d != nil {
				return d.asGiven(unsafeOld)
			}
			if old.place == e.place {
				return syscall.EINVAL
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
			err := renameat(oldDir, old.arg(), newDir, e.arg(), how)
			if err == nil {
				gone()
			}
			return err
		}
		if e, ok := sibling(unsafeOld, unsafeNew, old); ok && r.denies(access.OpRename, e.place, 0) == nil {
			return move(oldDir, e)
		}
		return r.at(access.OpRename, unsafeNew, 0, move)
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
