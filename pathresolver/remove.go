package pathresolver

import (
	"math"
	"os"
	"syscall"

	"github.com/pinfold-dev/pinfold/access"
)

// maxDepth bounds the directories that a recursive removal holds open.
const maxDepth = 2048

// Remove removes a file, a link or an empty directory.
func (r *Resolver) Remove(unsafePath string) error {
	defer r.hold(access.OpDelete).release()
	err := r.at(access.OpDelete, unsafePath, 0, func(dir handle, e entry) error {
		if r.gitLock(e.place) {
			return syscall.ENOENT // as was decided: one that came since belongs to a git outside
		}
		if !e.slash {
			err := r.unlinkFile(dir, e.name)
			if err != syscall.EISDIR && err != syscall.EPERM {
				return err
			}
			if d, lerr := isDir(dir, e.name); lerr != nil || !d {
				return err
			}
		}
		return unlink(dir, e.arg(), asDir)
	})
	return pathError("remove", unsafePath, err)
}

// unlinkFile removes a name that is no directory.
func (r *Resolver) unlinkFile(dir handle, name string) error {
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

// RemoveAll removes a path and all beneath it, never following a link. A
// missing path is no error. Where anything beneath is hidden or protected it
// is refused before the first removal; a failure later leaves what it had not
// come to.
func (r *Resolver) RemoveAll(unsafePath string) error {
	turn := r.turn()
	err := r.at(access.OpDelete, unsafePath, 0, func(dir handle, e entry) error {
		if e.slash {
			if d, err := isDir(dir, e.name); err == nil && !d {
				return syscall.ENOTDIR // "link/" names what the link leads to: not that
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
	if err == syscall.ENOENT {
		return nil
	}
	return pathError("removeall", unsafePath, err)
}

// guardedBeneath looks for something that may not be removed.
func (r *Resolver) guardedBeneath(dir handle, name, place string, depth int) *DeniedError {
	if d := r.denies(access.OpDelete, place, 0); d != nil {
		d.Reason = "it holds " + EscapePath(place) + ", and " + d.Reason
		return d
	}
	if depth > maxDepth {
		return nil
	}
	in, err := r.descend(dir, name)
	if err != nil {
		return nil // not a directory, or gone: the removal will tell
	}
	defer closeHandle(in)
	list, _ := names(in, math.MaxInt)
	for _, n := range list {
		if d := r.guardedBeneath(in, n, joinPlace(place, n), depth+1); d != nil {
			return d
		}
	}
	return nil
}

// descend opens a directory in dir for listing: not through a link, not
// across a mount.
func (r *Resolver) descend(dir handle, name string) (handle, error) {
	return r.openIn(dir, name, os.O_RDONLY|oDirectory|oNoFollow)
}

// removeTree removes name in dir and all beneath it. Each entry is decided
// again at its place, so that what appears meanwhile is not swept along.
func (r *Resolver) removeTree(dir *heldDir, name string, depth int) error {
	err := r.removeEntry(dir, name)
	if err != syscall.EISDIR && err != syscall.EPERM {
		return err
	}
	if depth > maxDepth {
		return syscall.ENAMETOOLONG
	}
	fd, err := r.descend(dir.fd, name)
	if err != nil {
		return unlink(dir.fd, name, asDir)
	}
	defer closeHandle(fd)
	in := heldDir{fd, joinPlace(dir.place, name), dir.turn}
	// Removing moves the cursor: begin again until nothing is left.
	for {
		list, err := names(fd, 1024)
		for _, n := range list {
			if err := r.removeTree(&in, n, depth+1); err != nil && err != syscall.ENOENT {
				return err
			}
		}
		if err != nil || len(list) == 0 {
			break
		}
	}
	return unlink(dir.fd, name, asDir)
}

// removeEntry removes name in dir, if that is decided and it is no directory. The
// decision is about a place: dir has to be there still.
func (r *Resolver) removeEntry(dir *heldDir, name string) error {
	defer r.hold(access.OpDelete).release()
	place := joinPlace(dir.place, name)
	if now := r.turn(); now != dir.turn {
		if !r.isAt(dir.fd, dir.place) {
			return r.refuse(access.OpDelete, place, RuleUnstable, "its directory was moved or replaced meanwhile")
		}
		dir.turn = now
	}
	if d := r.denies(access.OpDelete, place, 0); d != nil {
		return d
	}
	if r.gitLock(place) {
		return syscall.ENOENT // as in remove
	}
	return r.unlinkFile(dir.fd, name)
}

func isDir(dir handle, name string) (bool, error) {
	var st stat
	err := lstatat(dir, name, &st)
	return st.Mode&syscall.S_IFMT == syscall.S_IFDIR, err
}
