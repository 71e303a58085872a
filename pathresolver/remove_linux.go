//go:build !portable

package pathresolver

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// maxDepth bounds the directories that a recursive removal holds open.
const maxDepth = 2048

func (r *Resolver) remove(unsafePath string) error {
	defer r.hold(OpDelete).release()
	err := r.at(OpDelete, unsafePath, 0, func(dir int, e entry) error {
		if r.GitLock(e.place) {
			return unix.ENOENT // as was decided: one that came since is a git's elsewhere
		}
		if !e.slash {
			err := r.unlinkFile(dir, e.name)
			if err != unix.EISDIR && err != unix.EPERM {
				return err
			}
			if d, lerr := isDir(dir, e.name); lerr != nil || !d {
				return err
			}
		}
		return unlink(dir, e.arg(), unix.AT_REMOVEDIR)
	})
	return pathError("remove", unsafePath, err)
}

// unlinkFile removes a name that is no directory.
func (r *Resolver) unlinkFile(dir int, name string) error {
	if !r.hasNotes() {
		return unlink(dir, name, 0)
	}
	gone := r.removing(dir, name)
	err := unlink(dir, name, 0)
	if err == nil {
		gone()
	}
	return err
}

func unlink(dir int, name string, flags int) error {
	return fsat.Retry(func() error { return unix.Unlinkat(dir, name, flags) })
}

func (r *Resolver) removeAll(unsafePath string) error {
	turn := r.turn()
	err := r.at(OpDelete, unsafePath, 0, func(dir int, e entry) error {
		if e.slash {
			if d, err := isDir(dir, e.name); err == nil && !d {
				return unix.ENOTDIR // "link/" names what the link leads to: not that
			}
		}
		if r.trusted != nil || r.mayHoldRules(e.place) != nil {
			if d := r.guardedBeneath(dir, e.name, e.place, 0); d != nil {
				return d.asGiven(unsafePath)
			}
		}
		parent, _ := splitPlace(e.place)
		return r.removeTree(&heldDir{dir, parent, turn}, e.name, 0)
	})
	if err == unix.ENOENT {
		return nil
	}
	return pathError("removeall", unsafePath, err)
}

// guardedBeneath looks for something that may not be removed.
func (r *Resolver) guardedBeneath(dir int, name, place string, depth int) *DeniedError {
	if d := r.Decide(OpDelete, place, 0); d != nil {
		d.Reason = "it holds " + EscapePath(place) + ", and " + d.Reason
		return d
	}
	if depth > maxDepth {
		return nil
	}
	f := r.descend(dir, name)
	if f == nil {
		return nil // not a directory, or gone: the removal will tell
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, n := range names {
		if d := r.guardedBeneath(int(f.Fd()), n, joinPlace(place, n), depth+1); d != nil {
			return d
		}
	}
	return nil
}

// descend opens a directory in dir for listing: not through a link, not
// across a mount.
func (r *Resolver) descend(dir int, name string) *os.File {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW
	var fd int
	var err error
	if r.openat2 {
		fd, err = fsat.Openat2(dir, name, flags, 0, beneath)
	} else {
		home, herr := fsat.Identify(dir)
		if herr != nil {
			return nil
		}
		fd, err = r.lastStep(dir, name, flags, 0, home)
	}
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), fsat.ProcPath(fd))
}

// removeTree removes name in dir and all beneath it. Each entry is decided
// again at its place, so that what appears meanwhile is not swept along.
func (r *Resolver) removeTree(dir *heldDir, name string, depth int) error {
	err := r.removeEntry(dir, name)
	if err != unix.EISDIR && err != unix.EPERM {
		return err
	}
	if depth > maxDepth {
		return unix.ENAMETOOLONG
	}
	f := r.descend(dir.fd, name)
	if f == nil {
		return unlink(dir.fd, name, unix.AT_REMOVEDIR)
	}
	defer f.Close()
	in := heldDir{int(f.Fd()), joinPlace(dir.place, name), dir.turn}
	for {
		names, readErr := f.Readdirnames(1024)
		for _, n := range names {
			if err := r.removeTree(&in, n, depth+1); err != nil && err != unix.ENOENT {
				return err
			}
		}
		if readErr != nil || len(names) == 0 {
			break
		}
		// Removing moved the cursor: begin again until nothing is left.
		if _, err := f.Seek(0, 0); err != nil {
			break
		}
	}
	return unlink(dir.fd, name, unix.AT_REMOVEDIR)
}

// removeEntry removes name in dir, if that is decided and it is no directory. The
// decision is about a place: dir has to be there still.
func (r *Resolver) removeEntry(dir *heldDir, name string) error {
	defer r.hold(OpDelete).release()
	place := joinPlace(dir.place, name)
	if now := r.turn(); now != dir.turn {
		if !r.isAt(dir.fd, dir.place) {
			return r.refuse(OpDelete, place, RuleUnstable, "its directory was moved or replaced meanwhile")
		}
		dir.turn = now
	}
	if d := r.Decide(OpDelete, place, 0); d != nil {
		return d
	}
	if r.GitLock(place) {
		return unix.ENOENT // as in remove
	}
	return r.unlinkFile(dir.fd, name)
}

func isDir(dir int, name string) (bool, error) {
	var st unix.Stat_t
	err := fsat.Lstatat(dir, name, &st)
	return st.Mode&unix.S_IFMT == unix.S_IFDIR, err
}
