package pathresolver

import (
	"io/fs"
	"syscall"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// entry is a name in a held directory.
type entry struct {
	name  string
	place string
	slash bool // the caller insisted on a directory
}

// arg is the name for the kernel, with the caller's trailing slash: a name
// that must be a directory fails there with ENOTDIR, links included.
func (e entry) arg() string {
	if e.slash {
		return e.name + "/"
	}
	return e.name
}

// at opens the directory of the path's last name, once op is decided there,
// and calls act on that very descriptor. It does not follow the last name.
func (r *Resolver) at(op access.Op, unsafePath string, kind fs.FileMode, act func(dir handle, e entry) error) error {
	return r.atDecided(op, unsafePath, func(place string) *DeniedError { return r.denies(op, place, kind) }, act)
}

// atDecided is at with a decision of the caller's.
func (r *Resolver) atDecided(op access.Op, unsafePath string, decide func(place string) *DeniedError, act func(dir handle, e entry) error) error {
	rel, err := r.relative(op, unsafePath)
	if err != nil {
		return err
	}
	parent, name, slash := splitLast(rel)
	switch {
	case name == "" || name == ".":
		return syscall.EINVAL
	case name == "..":
		// What "dir/.." names is a directory with a name of its own: ask for it by that.
		return syscall.EINVAL
	case len(name) > maxName:
		return syscall.ENAMETOOLONG
	}
	for range maxAttempts {
		dir, place, err := r.openDir(op, unsafePath, parent, name, decide)
		if err == errAgain {
			continue
		}
		if err != nil {
			return err
		}
		defer closeHandle(dir)
		return act(dir, entry{name: name, place: place, slash: slash})
	}
	return r.refuse(op, unsafePath, RuleUnstable, "the path kept changing while it was resolved")
}

// openDir opens the directory at an unsafe parent, after deciding about the
// place of name in it.
func (r *Resolver) openDir(op access.Op, unsafePath, parent, name string, decide func(string) *DeniedError) (handle, string, error) {
	const flags = oPath | oDirectory
	if dir, lexical := lexicalPlace(parent); lexical {
		place := joinPlace(dir, name)
		if decide(place) == nil {
			fd, err := r.openPlace(dir, flags, 0)
			if err != syscall.ELOOP && err != syscall.EXDEV {
				return fd, place, err
			}
		}
	}
	w, err := r.locate(op, unsafePath, parent, true)
	if err != nil {
		return noHandle, "", err
	}
	place := joinPlace(w.place, name)
	if d := decide(place); d != nil {
		return noHandle, "", d.asGiven(unsafePath)
	}
	if w.missing > 0 {
		return noHandle, "", syscall.ENOENT
	}
	fd, err := r.openPlace(w.place, flags, 0)
	switch err {
	case syscall.ELOOP, syscall.EXDEV, syscall.ENOENT, syscall.ENOTDIR:
		if w.mode&syscall.S_IFMT == syscall.S_IFDIR {
			return noHandle, "", errAgain
		}
	}
	return fd, place, err
}

// look opens what the path leads to as an O_PATH descriptor, once op is
// decided there, and calls act on it.
func (r *Resolver) look(op access.Op, unsafePath string, follow bool, act func(fd handle, place string, st *stat) error) error {
	rel, err := r.relative(op, unsafePath)
	if err != nil {
		return err
	}
	for range maxAttempts {
		fd, place, err := r.openLook(op, unsafePath, rel, follow)
		if err == errAgain {
			continue
		}
		if err != nil {
			return err
		}
		var st stat
		if err = fstat(fd, &st); err == nil {
			err = r.refuseTraverseOnly(op, unsafePath, place, fsat.FileMode(st.Mode))
		}
		if err == nil {
			if place == "" || !follow || st.Mode&syscall.S_IFMT != syscall.S_IFLNK {
				err = act(fd, place, &st)
			} else {
				err = errAgain // became a link after the walk
			}
		}
		closeHandle(fd)
		if err != errAgain {
			return err
		}
	}
	return r.refuse(op, unsafePath, RuleUnstable, "the path kept changing while it was resolved")
}

// decideLooking is Decide, where to read is only to look.
func (r *Resolver) decideLooking(op access.Op, place string) *DeniedError {
	if op == access.OpRead {
		return r.decideLook(place)
	}
	return r.denies(op, place, 0)
}

func (r *Resolver) openLook(op access.Op, unsafePath, rel string, follow bool) (handle, string, error) {
	flags := oPath
	if !follow {
		flags |= oNoFollow
	}
	place, lexical := lexicalPlace(rel)
	if op == access.OpRead && r.plain {
		fd, err := r.openFollowed(rel, flags)
		if err != syscall.ELOOP {
			return fd, "", err
		}
	} else if lexical && r.decideLooking(op, place) == nil {
		fd, err := r.openPlace(withSlash(place, rel), flags, 0)
		if err != syscall.ELOOP && err != syscall.EXDEV {
			return fd, place, err
		}
	}
	w, err := r.locate(op, unsafePath, rel, follow)
	if err != nil {
		return noHandle, "", err
	}
	if d := r.decideLooking(op, w.place); d != nil {
		return noHandle, "", d.asGiven(unsafePath)
	}
	if w.missing > 0 {
		return noHandle, "", syscall.ENOENT
	}
	fd, err := r.openPlace(w.place, oPath|oNoFollow, 0)
	switch err {
	case syscall.ELOOP, syscall.EXDEV, syscall.ENOENT, syscall.ENOTDIR:
		return noHandle, "", errAgain
	}
	return fd, w.place, err
}
