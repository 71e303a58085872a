package launcher

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// covers are an empty file and an empty directory that nobody may open, to be
// mounted over what must not be seen. They stand in the new root's own /proc
// directory, where the mount of /proc hides them.
type covers struct{ file, dir int }

const (
	coverFile = "proc/.file"
	coverDir  = "proc/.dir"
)

// makeCovers makes them in a root that is still empty.
func makeCovers(root int) (covers, error) {
	if err := unix.Mkdirat(root, "proc", 0o555); err != nil {
		return covers{}, err
	}
	fd, err := unix.Openat(root, coverFile, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0)
	if err != nil {
		return covers{}, err
	}
	unix.Close(fd)
	if err := unix.Mkdirat(root, coverDir, 0); err != nil {
		return covers{}, err
	}
	return openCovers(root)
}

// openCovers finds them again, as long as /proc is not mounted.
func openCovers(root int) (c covers, err error) {
	c.file, err = unix.Openat(root, coverFile, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return c, err
	}
	c.dir, err = unix.Openat(root, coverDir, unix.O_PATH|unix.O_NOFOLLOW|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return c, err
}

// mask covers p, if it exists. The link is not followed: a link to a secret
// is masked where the secret is.
func (c covers) mask(t *tree, p string) error {
	at, err := t.open(p)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(at)
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil {
		return err
	}
	from := c.file
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		from = c.dir
	}
	fd, err := clone(from, "", attrReadOnly, unix.AT_EMPTY_PATH)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.MoveMount(fd, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// procMounts carries out the steps that need the new process namespace.
// It names the guarantees that could not be given.
func procMounts(t *tree, steps []planStep) (lost []string, err error) {
	c, err := openCovers(t.fd)
	if err != nil {
		return nil, &SetupError{Step: "find what covers secrets", Err: err}
	}
	for _, s := range steps {
		var err error
		switch s.Do {
		case doProc:
			var fd int
			if fd, err = newMount("proc", attrQuiet|unix.MOUNT_ATTR_NOEXEC); err == nil {
				err = t.attach(fd, s.Path)
			}
		case doLock:
			err = lock(t, s.Path)
		case doMask:
			err = c.mask(t, s.Path)
		case doTasks:
			if err := boundTasks(t, s); err != nil {
				lost = append(lost, fmt.Sprintf("the number of processes inside is not bounded: %v", err))
			}
		default:
			err = errors.New("unknown step")
		}
		if err != nil {
			se := &SetupError{Step: "set up " + string(s.Do) + " " + s.Path, Err: err}
			if s.Do == doProc && err == unix.EPERM {
				se.Fix = "parts of this system's own /proc are masked, as containers do; start the container with an unmasked /proc (docker: --security-opt systempaths=unconfined)"
			}
			return nil, se
		}
	}
	return lost, nil
}

// lock makes a part of /proc read-only.
func lock(t *tree, p string) error {
	at, err := t.open(p)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(at)
	fd, err := clone(at, "", attrReadOnly|unix.MOUNT_ATTR_NOEXEC, unix.AT_EMPTY_PATH)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.MoveMount(fd, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}
