//go:build !portable

package pathresolver

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// OpenParent opens the directory of the path's last name, for reading rules:
// the name is not hidden. A caller who changes the entry must ask Decide with
// Place first.
func (r *Resolver) OpenParent(unsafePath string) (*Parent, error) {
	var p *Parent
	err := r.atDecided(OpRead, unsafePath, r.DecideLook, func(dir int, e entry) error {
		fd, err := unix.FcntlInt(uintptr(dir), unix.F_DUPFD_CLOEXEC, 0)
		if err == nil {
			p = &Parent{Dir: os.NewFile(uintptr(fd), fsat.ProcPath(fd)), Name: e.name, Place: e.place}
		}
		return err
	})
	return p, pathError("openparent", unsafePath, err)
}

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
func (r *Resolver) at(op Op, unsafePath string, kind fs.FileMode, act func(dir int, e entry) error) error {
	return r.atDecided(op, unsafePath, func(place string) *DeniedError { return r.Decide(op, place, kind) }, act)
}

// atDecided is at with a decision of the caller's.
func (r *Resolver) atDecided(op Op, unsafePath string, decide func(place string) *DeniedError, act func(dir int, e entry) error) error {
	rel, err := r.relative(op, unsafePath)
	if err != nil {
		return err
	}
	parent, name, slash := splitLast(rel)
	switch {
	case name == "" || name == ".":
		return unix.EINVAL
	case name == "..":
		// What "dir/.." names is a directory with a name of its own: ask for it by that.
		return unix.EINVAL
	case len(name) > maxName:
		return unix.ENAMETOOLONG
	}
	for range maxAttempts {
		dir, place, err := r.openDir(op, unsafePath, parent, name, decide)
		if err == errAgain {
			continue
		}
		if err != nil {
			return err
		}
		defer unix.Close(dir)
		return act(dir, entry{name: name, place: place, slash: slash})
	}
	return r.refuse(op, unsafePath, RuleUnstable, "the path kept changing while it was resolved")
}

// openDir opens the directory at an unsafe parent, after deciding about the
// place of name in it.
func (r *Resolver) openDir(op Op, unsafePath, parent, name string, decide func(string) *DeniedError) (int, string, error) {
	const flags = unix.O_PATH | unix.O_DIRECTORY
	if dir, lexical := lexicalPlace(parent); lexical {
		place := joinPlace(dir, name)
		if decide(place) == nil {
			fd, err := r.OpenPlace(dir, flags, 0)
			if err != unix.ELOOP && err != unix.EXDEV {
				return fd, place, err
			}
		}
	}
	w, err := r.locate(op, unsafePath, parent, true)
	if err != nil {
		return -1, "", err
	}
	place := joinPlace(w.place, name)
	if d := decide(place); d != nil {
		return -1, "", d.asGiven(unsafePath)
	}
	if w.missing > 0 {
		return -1, "", unix.ENOENT
	}
	fd, err := r.OpenPlace(w.place, flags, 0)
	switch err {
	case unix.ELOOP, unix.EXDEV, unix.ENOENT, unix.ENOTDIR:
		if w.mode&unix.S_IFMT == unix.S_IFDIR {
			return -1, "", errAgain
		}
	}
	return fd, place, err
}

// look opens what the path leads to as an O_PATH descriptor, once op is
// decided there, and calls act on it.
func (r *Resolver) look(op Op, unsafePath string, follow bool, act func(fd int, place string, st *unix.Stat_t) error) error {
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
		var st unix.Stat_t
		if err = fsat.Fstat(fd, &st); err == nil {
			err = r.refuseTraverseOnly(op, unsafePath, place, fsat.FileMode(st.Mode))
		}
		if err == nil {
			if place == "" || !follow || st.Mode&unix.S_IFMT != unix.S_IFLNK {
				err = act(fd, place, &st)
			} else {
				err = errAgain // became a link after the walk
			}
		}
		_ = unix.Close(fd)
		if err != errAgain {
			return err
		}
	}
	return r.refuse(op, unsafePath, RuleUnstable, "the path kept changing while it was resolved")
}

// decideLooking is Decide, where to read is only to look.
func (r *Resolver) decideLooking(op Op, place string) *DeniedError {
	if op == OpRead {
		return r.DecideLook(place)
	}
	return r.Decide(op, place, 0)
}

func (r *Resolver) openLook(op Op, unsafePath, rel string, follow bool) (int, string, error) {
	flags := unix.O_PATH
	if !follow {
		flags |= unix.O_NOFOLLOW
	}
	place, lexical := lexicalPlace(rel)
	if op == OpRead && r.openat2 && r.plain {
		for range maxAgain {
			fd, err := fsat.Openat2(r.rootFD, rel, flags, 0, following)
			switch err {
			case unix.EAGAIN:
				continue
			case unix.EXDEV, unix.ELOOP:
			default:
				return fd, "", err
			}
			break
		}
	} else if lexical && r.decideLooking(op, place) == nil {
		fd, err := r.OpenPlace(withSlash(place, rel), flags, 0)
		if err != unix.ELOOP && err != unix.EXDEV {
			return fd, place, err
		}
	}
	w, err := r.locate(op, unsafePath, rel, follow)
	if err != nil {
		return -1, "", err
	}
	if d := r.decideLooking(op, w.place); d != nil {
		return -1, "", d.asGiven(unsafePath)
	}
	if w.missing > 0 {
		return -1, "", unix.ENOENT
	}
	fd, err := r.OpenPlace(w.place, unix.O_PATH|unix.O_NOFOLLOW, 0)
	switch err {
	case unix.ELOOP, unix.EXDEV, unix.ENOENT, unix.ENOTDIR:
		return -1, "", errAgain
	}
	return fd, w.place, err
}
