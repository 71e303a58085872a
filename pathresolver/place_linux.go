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
	dir, rest := r.rootFD, place
	if len(r.mounts) > 0 {
		var m *mount
		if m, rest = r.mountOf(place); m != nil {
			dir = m.fd
			if rest == "." && m.id.Mode&unix.S_IFMT != unix.S_IFDIR {
				return reopen(m.fd, flags) // a file that is a mount point
			}
		}
	}
	if r.openat2 {
		return fsat.Openat2(dir, rest, flags, mode, beneath)
	}
	return r.stepTo(dir, rest, flags, mode)
}

// reopen opens the object behind a descriptor anew.
func reopen(fd, flags int) (int, error) {
	return fsat.Openat(unix.AT_FDCWD, fsat.ProcPath(fd), flags&^(unix.O_NOFOLLOW|unix.O_CREAT|unix.O_EXCL), 0)
}

// stepTo is OpenPlace one component after the other.
func (r *Resolver) stepTo(start int, rest string, flags int, mode uint32) (int, error) {
	if len(rest) > maxPath {
		return -1, unix.ENAMETOOLONG
	}
	home, err := fsat.Identify(start)
	if err != nil {
		return -1, err
	}
	dir := start
	defer func() {
		if dir != start {
			_ = unix.Close(dir)
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
			_ = unix.Close(dir)
		}
		dir = next
		if id, err := fsat.Identify(dir); err != nil {
			return -1, err
		} else if !fsat.SameMount(id, home) {
			return -1, unix.EXDEV
		}
		rest = tail
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

// lastStep opens name in dir. The flags go to the kernel once it is known
// that no foreign mount stands there, and the answer is compared again.
func (r *Resolver) lastStep(dir int, name string, flags int, mode uint32, home fsat.Identity) (int, error) {
	if flags&unix.O_PATH == 0 && name != "." {
		if probe, err := fsat.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW, 0); err == nil {
			id, err := fsat.Identify(probe)
			_ = unix.Close(probe)
			if err == nil && !fsat.SameMount(id, home) {
				return -1, unix.EXDEV
			}
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
