//go:build !portable

package pathresolver

import (
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// beneath are the flags of a walk that can only go down: no link is followed,
// so the names of the place are the directories that were passed.
const beneath = fsat.ResolveBeneath | fsat.ResolveNoSymlinks | fsat.ResolveNoMagicLinks | fsat.ResolveNoXDev

// OpenPlace opens a place without following any link, the last component
// included, and without crossing into a mount that appeared after New. It
// applies no rule: the caller has decided. flags are those of open(2); with
// O_PATH|O_NOFOLLOW the place may be a link itself. A trailing slash demands a
// directory. mode counts only with
// O_CREAT or O_TMPFILE, and is subject to the umask. The caller owns the
// descriptor, which is close-on-exec. Errors are plain errno values: ELOOP
// when a component has become a link, EXDEV at a foreign mount.
func (r *Resolver) OpenPlace(place string, flags int, mode uint32) (int, error) {
	dir, home, rest := r.rootFD, r.rootID, place
	if len(r.mounts) > 0 {
		var m *mount
		if m, rest = r.mountOf(place); m != nil {
			dir, home = m.fd, m.id
			if rest == "." && m.id.Mode&unix.S_IFMT != unix.S_IFDIR {
				return reopen(m.fd, flags) // a file that is a mount point
			}
		}
	}
	if r.openat2 {
		return fsat.Openat2(dir, rest, flags, mode, beneath)
	}
	return r.stepTo(dir, home, rest, flags, mode)
}

// reopen opens the object behind a descriptor anew.
func reopen(fd, flags int) (int, error) {
	return fsat.Openat(unix.AT_FDCWD, fsat.ProcPath(fd), flags&^(unix.O_NOFOLLOW|unix.O_CREAT|unix.O_EXCL), 0)
}

// stepTo is OpenPlace one component after the other. Who goes down from a
// mount into another never comes back to the first, so comparing the end of
// the walk with its start tells whether any mount was crossed.
func (r *Resolver) stepTo(start int, home fsat.Identity, rest string, flags int, mode uint32) (int, error) {
	if len(rest) > maxPath {
		return -1, unix.ENAMETOOLONG
	}
	dir := start
	defer func() {
		if dir != start {
			fsat.ClosePath(dir)
		}
	}()
	rest, slash := strings.CutSuffix(rest, "/")
	if slash && flags&unix.O_CREAT != 0 {
		return -1, unix.EISDIR
	}
	for {
		name, tail, more := strings.Cut(rest, "/")
		if !more {
			fd, err := r.lastStep(dir, name, flags, mode, home)
			if err == nil && slash {
				err = mustBeDirectory(fd)
			}
			return fd, err
		}
		next, err := fsat.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
		if err != nil {
			return -1, linkNotDir(dir, name, err)
		}
		if dir != start {
			fsat.ClosePath(dir)
		}
		dir, rest = next, tail
	}
}

// mustBeDirectory closes fd and says why if it is something else.
func mustBeDirectory(fd int) error {
	id, err := fsat.Identify(fd)
	switch {
	case err != nil:
	case id.Mode&unix.S_IFMT == unix.S_IFDIR:
		return nil
	case id.Mode&unix.S_IFMT == unix.S_IFLNK:
		err = unix.ELOOP
	default:
		err = unix.ENOTDIR
	}
	_ = unix.Close(fd)
	return err
}

// lastStep opens name in dir. Before it makes anything it compares the mount
// of dir with the walk's; what it opened it compares in any case.
func (r *Resolver) lastStep(dir int, name string, flags int, mode uint32, home fsat.Identity) (int, error) {
	if flags&(unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY) != 0 {
		if id, err := fsat.Identify(dir); err != nil {
			return -1, err
		} else if !fsat.SameMount(id, home) {
			return -1, unix.EXDEV
		}
	}
	fd, err := fsat.Openat(dir, name, flags|unix.O_NOFOLLOW, mode)
	if err != nil {
		return -1, linkNotDir(dir, name, err)
	}
	id, err := fsat.Identify(fd)
	switch {
	case err != nil:
	case !fsat.SameMount(id, home):
		err = unix.EXDEV
	case id.Mode&unix.S_IFMT == unix.S_IFLNK && flags&unix.O_NOFOLLOW == 0:
		err = unix.ELOOP // O_PATH alone would have followed it
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// linkNotDir makes the walker's errno the kernel's: O_DIRECTORY|O_NOFOLLOW on
// a link is ENOTDIR where RESOLVE_NO_SYMLINKS says ELOOP.
func linkNotDir(dir int, name string, err error) error {
	if err != unix.ENOTDIR {
		return err
	}
	var st unix.Stat_t
	if fsat.Lstatat(dir, name, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return unix.ELOOP
	}
	return err
}
