package launcher

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// covers are an empty file and an empty directory that nobody may open, to be
// mounted over what must not be seen. They stand in the new root's own /proc
// directory, where the mount of /proc hides them.
type covers struct{ file, dir int }

const (
	coverFile = "proc/.file"
	coverDir  = "proc/.dir"
	spareDir  = "proc/.spare" // for files whose content changes while the command runs
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
	for _, dir := range []string{coverDir, spareDir} {
		if err := unix.Mkdirat(root, dir, 0); err != nil {
			return covers{}, err
		}
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
	return cover(t, p, attrReadOnly, func(at int) (int, error) {
		var st unix.Stat_t
		err := unix.Fstat(at, &st)
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			return c.dir, err
		}
		return c.file, err
	})
}

// lock makes a part of /proc read-only, if it exists.
func lock(t *tree, p string) error {
	return cover(t, p, attrReadOnly|unix.MOUNT_ATTR_NOEXEC, func(at int) (int, error) { return at, nil })
}

// cover mounts a restricted copy of what by chooses over p, if that exists.
func cover(t *tree, p string, attr uint64, by func(at int) (int, error)) error {
	at, err := t.open(p)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(at)
	from, err := by(at)
	if err != nil {
		return err
	}
	fd, err := clone(from, "", attr, unix.AT_EMPTY_PATH)
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
			if err = boundTasks(t, s); err != nil && s.Maybe {
				lost = append(lost, fmt.Sprintf("the number of processes inside is not bounded: %v", err))
				err = nil
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

// boundTasks is called by process 1 of the namespace: the kernel takes the bound
// for that of the process that writes it.
func boundTasks(t *tree, s planStep) error {
	fd, err := unix.Openat(t.fd, strings.TrimPrefix(s.Path, "/"), unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", s.Path, err)
	}
	defer unix.Close(fd)
	if _, err := unix.Write(fd, strconv.AppendInt(nil, s.Size, 10)); err != nil {
		return fmt.Errorf("set %s to %d: %w", s.Path, s.Size, err)
	}
	return nil
}
