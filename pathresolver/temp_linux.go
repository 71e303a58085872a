//go:build !portable

package pathresolver

import (
	"crypto/rand"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// linkedTemp is the name of new content between linkat and rename. All
// commits in a directory are under its lock, so one that is there was left by
// a process that was killed.
const linkedTemp = tempPrefix + "new"

// openTemp makes the file for the new content in the held directory: without
// a name where the file system can do that.
func (w *Replacement) openTemp() error {
	mode := uint32(0o600) // the attributes of the old file follow
	if w.old == nil {
		mode = unixMode(w.opts.Perm)
	}
	var err error
	w.out, err = fsat.Openat(w.dir, ".", unix.O_RDWR|unix.O_TMPFILE, mode)
	if err == unix.EOPNOTSUPP || err == unix.EISDIR || err == unix.ENOENT || err == unix.EINVAL {
		if w.r.isWritePath(w.place) {
			return err // nothing else is made beside it
		}
		w.temp, w.out, err = createTemp(w.dir, mode)
	}
	var st unix.Stat_t
	if err == unix.EPERM && fsat.Fstat(w.dir, &st) == nil && st.Nlink == 0 {
		return unix.ENOENT // ext4's word for a directory that was removed
	}
	return err
}

// createTemp makes an empty file of a name that nobody can guess.
func createTemp(dir int, mode uint32) (string, int, error) {
	name := tempPrefix + rand.Text()
	fd, err := fsat.Openat(dir, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, mode)
	return name, fd, err
}

// publishNew gives the content its name. EEXIST: somebody was faster.
func (w *Replacement) publishNew() error {
	if w.temp == "" {
		return linkFile(w.out, w.dir, w.name)
	}
	err := fsat.Retry(func() error { return unix.Renameat2(w.dir, w.temp, w.dir, w.name, unix.RENAME_NOREPLACE) })
	if err == unix.EINVAL || err == unix.ENOSYS {
		if err = fsat.Retry(func() error { return unix.Linkat(w.dir, w.temp, w.dir, w.name, 0) }); err == nil {
			_ = unlink(w.dir, w.temp, 0)
		}
	}
	return err
}

// publishOver puts the content in the stead of the file that is there.
func (w *Replacement) publishOver() error {
	temp := w.temp
	if temp == "" {
		var err error
		if temp, err = w.linkTemp(); err != nil {
			return err
		}
	}
	gone := func() {}
	if w.r.hasNotes() {
		gone = w.r.removing(w.dir, w.name)
	}
	err := fsat.Retry(func() error { return unix.Renameat(w.dir, temp, w.dir, w.name) })
	if err == nil {
		gone()
	} else if w.temp == "" {
		_ = unlink(w.dir, temp, 0)
	}
	return err
}

// linkTemp gives the content a name beside the file: the one name, where the
// lock says that nobody else uses it.
func (w *Replacement) linkTemp() (string, error) {
	if w.locked {
		err := linkFile(w.out, w.dir, linkedTemp)
		if err == unix.EEXIST {
			w.sweep()
			err = linkFile(w.out, w.dir, linkedTemp)
		}
		if err != unix.EEXIST {
			return linkedTemp, err
		}
		// Not one of ours: somebody's directory, or made by who minds no lock.
	}
	name := tempPrefix + rand.Text()
	return name, linkFile(w.out, w.dir, name)
}

// sweep removes what a process that was killed has left.
func (w *Replacement) sweep() {
	if w.locked && !w.inPlace && !w.r.isWritePath(w.place) {
		_ = unlink(w.dir, linkedTemp, 0)
	}
}

// linkFile gives the file behind fd a name.
func linkFile(fd, dir int, name string) error {
	err := fsat.Retry(func() error { return unix.Linkat(fd, "", dir, name, unix.AT_EMPTY_PATH) })
	if err == unix.ENOENT { // without CAP_DAC_READ_SEARCH
		err = fsat.Retry(func() error {
			return unix.Linkat(unix.AT_FDCWD, fsat.ProcPath(fd), dir, name, unix.AT_SYMLINK_FOLLOW)
		})
	}
	return err
}

// anonymous is a file without a name for content that is kept for a while.
func anonymous() (int, error) {
	dir := os.TempDir()
	fd, err := fsat.Openat(unix.AT_FDCWD, dir, unix.O_RDWR|unix.O_TMPFILE, 0o600)
	if err == nil {
		return fd, nil
	}
	if fd, err = fsat.Openat(unix.AT_FDCWD, dir, unix.O_PATH|unix.O_DIRECTORY, 0); err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	name, kept, err := createTemp(fd, 0o600)
	if err == nil {
		err = unlink(fd, name, 0)
	}
	return kept, err
}
