package launcher

import (
	"errors"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// tree is the file system under construction. All paths of a plan are real
// paths, so no link is ever followed: one that turns up is an error, never a
// way to the host's files. One openat a component does without openat2, which
// older container profiles forbid.
type tree struct {
	fd  int
	uid int // the owner of the directories that are made; -1 leaves them
	gid int
}

// open opens a place inside, as a descriptor for mounting and making names.
func (t *tree) open(p string) (int, error) { return walk(t.fd, p) }

// walk opens p beneath dir without following links, not even the last one.
func walk(dir int, p string) (int, error) {
	fd, err := unix.Openat(dir, ".", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	for name := range strings.SplitSeq(p, "/") {
		if name == "" || name == "." {
			continue
		}
		next, err := unix.Openat(fd, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		unix.Close(fd)
		if err != nil {
			return -1, err
		}
		fd = next
	}
	return fd, nil
}

// inParent calls do with the directory that holds p, and p's last name.
func (t *tree) inParent(p string, do func(dir int, name string) error) error {
	dir, err := t.open(path.Dir(p))
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	return do(dir, path.Base(p))
}

func (t *tree) mkdir(p string, mode uint32) error {
	return t.inParent(p, func(dir int, name string) error {
		err := unix.Mkdirat(dir, name, mode)
		if err == unix.EEXIST {
			return nil
		}
		if err == nil && t.uid >= 0 {
			err = unix.Fchownat(dir, name, t.uid, t.gid, unix.AT_SYMLINK_NOFOLLOW)
		}
		return err
	})
}

func (t *tree) symlink(p, to string) error {
	return t.inParent(p, func(dir int, name string) error {
		if err := unix.Symlinkat(to, dir, name); err != unix.EEXIST {
			return err
		}
		return nil
	})
}

// file makes a file with these bytes; an existing one is left alone.
func (t *tree) file(p string, mode uint32, data []byte) error {
	return t.inParent(p, func(dir int, name string) error {
		fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		if err == unix.EEXIST {
			return nil
		}
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		for len(data) > 0 {
			n, err := unix.Write(fd, data)
			if err != nil {
				return err
			}
			data = data[n:]
		}
		return nil
	})
}

// attach moves a detached mount to p and closes it.
func (t *tree) attach(mount int, p string) error {
	defer unix.Close(mount)
	at, err := t.open(p)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	return unix.MoveMount(mount, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// setattr changes the mount at p, not what is mounted beneath it.
func (t *tree) setattr(p string, attr uint64) error {
	fd, err := t.open(p)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: attr})
}

// clone copies the tree of mounts at dir/name, detached and restricted.
func clone(dir int, name string, attr uint64, flags uint) (int, error) {
	fd, err := unix.OpenTree(dir, name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|flags)
	if err != nil {
		return -1, err
	}
	err = unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attr})
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// newMount makes a detached file system of a kind. Options are KEY or
// KEY=VALUE.
func newMount(kind string, attr int, options ...string) (int, error) {
	fs, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	for _, o := range options {
		key, value, ok := strings.Cut(o, "=")
		if ok {
			err = unix.FsconfigSetString(fs, key, value)
		} else {
			err = unix.FsconfigSetFlag(fs, key)
		}
		if err != nil {
			return -1, errors.Join(errors.New("option "+o), err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, attr)
}
