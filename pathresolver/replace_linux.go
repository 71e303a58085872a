//go:build !portable

package pathresolver

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// BreakLinks replaces the regular file at place by a copy that has one link,
// with the same mode, owner, times and extended attributes. The place is
// writable: the caller has decided. On an error nothing has changed.
func (r *Resolver) BreakLinks(place string) error {
	src, err := r.OpenPlace(place, unix.O_RDONLY|always, 0)
	if err != nil {
		return err
	}
	in := os.NewFile(uintptr(src), fsat.ProcPath(src))
	defer in.Close()
	return r.replace(place, in, func(out *os.File) error {
		if _, err := io.Copy(out, in); err != nil {
			return err
		}
		var st unix.Stat_t
		if err := fsat.Fstat(src, &st); err != nil {
			return err
		}
		return unix.UtimesNanoAt(unix.AT_FDCWD, fsat.ProcPath(int(out.Fd())), []unix.Timespec{st.Atim, st.Mtim}, 0)
	})
}

// replace writes a new file beside place and moves it there. like, the file
// that is replaced, gives mode, owner and extended attributes.
func (r *Resolver) replace(place string, like *os.File, fill func(out *os.File) error) (err error) {
	parent, name := splitPlace(place)
	dir, err := r.OpenPlace(parent, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	temp, fd, err := createTemp(dir)
	if err != nil {
		return err
	}
	out := os.NewFile(uintptr(fd), name)
	defer func() {
		if cerr := out.Close(); err == nil {
			err = cerr
		}
		if err == nil {
			err = fsat.Retry(func() error { return unix.Renameat(dir, temp, dir, name) })
		}
		if err != nil {
			_ = unlink(dir, temp, 0)
		}
	}()
	if err := fill(out); err != nil {
		return err
	}
	return copyAttributes(like, out)
}

// createTemp makes an empty file of a name that nobody can guess.
func createTemp(dir int) (string, int, error) {
	name := ".pinfold-" + rand.Text()
	fd, err := fsat.Openat(dir, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
	return name, fd, err
}

// copyAttributes gives out the owner, mode and extended attributes of like. A
// change of owner that the system refuses is an error: the file would come to
// belong to somebody else.
func copyAttributes(like, out *os.File) error {
	var st, own unix.Stat_t
	if err := errors.Join(fsat.Fstat(int(like.Fd()), &st), fsat.Fstat(int(out.Fd()), &own)); err != nil {
		return err
	}
	if st.Uid != own.Uid || st.Gid != own.Gid {
		if err := out.Chown(int(st.Uid), int(st.Gid)); err != nil {
			return err
		}
	}
	if err := copyXattrs(int(like.Fd()), int(out.Fd())); err != nil {
		return err
	}
	return unix.Fchmod(int(out.Fd()), st.Mode&0o7777)
}

func copyXattrs(from, to int) error {
	size, err := unix.Flistxattr(from, nil)
	if err == unix.EOPNOTSUPP || size == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	list := make([]byte, size)
	if size, err = unix.Flistxattr(from, list); err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list[:size]), "\x00"), "\x00") {
		value := make([]byte, 1<<16) // XATTR_SIZE_MAX
		n, err := unix.Fgetxattr(from, name, value)
		if err != nil {
			continue // not ours to read, so not ours to carry
		}
		if err := unix.Fsetxattr(to, name, value[:n], 0); err != nil && !strings.HasPrefix(name, "security.") {
			return err
		}
	}
	return nil
}

func (r *Resolver) writeFile(unsafePath string, data []byte, perm fs.FileMode) error {
	var st unix.Stat_t
	// Opening for writing, without emptying, is what decides: links followed,
	// rules asked, type and hard links looked at.
	fd, err := r.openFD(unsafePath, os.O_RDWR, 0, &st)
	created := false
	if err == unix.ENOENT {
		fd, err = r.openFD(unsafePath, os.O_RDWR|os.O_CREATE, perm, &st)
		created = st.Size == 0
	}
	if err == unix.EACCES { // write-only files exist
		fd, err = r.openFD(unsafePath, os.O_WRONLY, 0, &st)
	}
	if err != nil {
		return pathError("write", unsafePath, err)
	}
	f := newFile(fd, unsafePath, &st)
	defer f.Close()
	if !created && st.Nlink == 1 {
		done, err := r.writeBeside(unsafePath, f, &st, data)
		if done || err != nil {
			return pathError("write", unsafePath, err)
		}
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err != nil && created {
		_ = r.remove(unsafePath)
	}
	return pathError("write", unsafePath, err)
}

// writeBeside replaces the file that f holds. done is false when there is no
// room for another file beside it, or the path leads elsewhere by now.
func (r *Resolver) writeBeside(unsafePath string, f *os.File, st *unix.Stat_t, data []byte) (done bool, err error) {
	rel, err := r.relative(OpWrite, unsafePath)
	if err != nil {
		return false, err
	}
	w, err := r.locate(OpWrite, unsafePath, rel, true)
	if err != nil || w.missing > 0 || r.isWritePath(w.place) || !r.allows(OpCreate, w.place) {
		return false, nil
	}
	var now unix.Stat_t
	fd, err := r.OpenPlace(w.place, unix.O_PATH, 0)
	if err != nil {
		return false, nil
	}
	err = fsat.Fstat(fd, &now)
	_ = unix.Close(fd)
	if err != nil || now.Dev != st.Dev || now.Ino != st.Ino {
		return false, nil
	}
	err = r.replace(w.place, f, func(out *os.File) error {
		_, err := out.Write(data)
		return err
	})
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EROFS), errors.Is(err, unix.EXDEV):
		return false, nil // the directory takes no new file: in place
	}
	return err == nil, err
}
