package pathresolver

import (
	"os"
	"strings"
	"syscall"
)

// stepTo is openPlace one component after the other. Who goes down from a
// mount into another never comes back to the first, so comparing the end of
// the walk with its start tells whether any mount was crossed.
func (r *Resolver) stepTo(start handle, home identity, rest string, flags int, mode uint32) (handle, error) {
	if len(rest) > maxPath {
		return noHandle, syscall.ENAMETOOLONG
	}
	dir := start
	defer func() {
		if dir != start {
			closePath(dir)
		}
	}()
	rest, slash := strings.CutSuffix(rest, "/")
	if slash && flags&os.O_CREATE != 0 {
		return noHandle, syscall.EISDIR
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
		next, err := openat(dir, name, oPath|oNoFollow|oDirectory, 0)
		if err != nil {
			return noHandle, linkNotDir(dir, name, err)
		}
		if dir != start {
			closePath(dir)
		}
		dir, rest = next, tail
	}
}

// mustBeDirectory closes fd and says why if it is something else.
func mustBeDirectory(fd handle) error {
	id, err := identify(fd)
	switch {
	case err != nil:
	case id.Mode&syscall.S_IFMT == syscall.S_IFDIR:
		return nil
	case id.Mode&syscall.S_IFMT == syscall.S_IFLNK:
		err = syscall.ELOOP
	default:
		err = syscall.ENOTDIR
	}
	closeHandle(fd)
	return err
}

// lastStep opens name in dir. Before it makes anything it compares the mount
// of dir with the walk's; what it opened it compares in any case.
func (r *Resolver) lastStep(dir handle, name string, flags int, mode uint32, home identity) (handle, error) {
	if flags&oMakes != 0 {
		if id, err := identify(dir); err != nil {
			return noHandle, err
		} else if !sameMount(id, home) {
			return noHandle, syscall.EXDEV
		}
	}
	fd, err := openat(dir, name, flags|oNoFollow, mode)
	if err != nil {
		return noHandle, linkNotDir(dir, name, err)
	}
	id, err := identify(fd)
	switch {
	case err != nil:
	case !sameMount(id, home):
		err = syscall.EXDEV
	case id.Mode&syscall.S_IFMT == syscall.S_IFLNK && flags&oNoFollow == 0:
		err = syscall.ELOOP // O_PATH alone would have followed it
	}
	if err != nil {
		closeHandle(fd)
		return noHandle, err
	}
	return fd, nil
}

// linkNotDir makes the walker's errno the kernel's: O_DIRECTORY|O_NOFOLLOW on
// a link is ENOTDIR where RESOLVE_NO_SYMLINKS says ELOOP.
func linkNotDir(dir handle, name string, err error) error {
	if err != syscall.ENOTDIR {
		return err
	}
	var st stat
	if lstatat(dir, name, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFLNK {
		return syscall.ELOOP
	}
	return err
}
