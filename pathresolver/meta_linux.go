//go:build !portable

package pathresolver

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// change is look for operations that change what they find: hard links count,
// since mode and times belong to all names of a file.
func (r *Resolver) change(unsafePath string, act func(fd int, st *unix.Stat_t) error) error {
	defer r.hold(OpMeta).release()
	return r.look(OpMeta, unsafePath, true, func(fd int, place string, st *unix.Stat_t) error {
		if st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 1 {
			id, err := fileID(fd)
			if err != nil {
				return err
			}
			breakIt, d := r.CheckLinks(place, id)
			if d != nil {
				d.Op = OpMeta
				return d.asGiven(unsafePath)
			}
			if breakIt {
				if err := r.BreakLinks(place); err != nil {
					return err
				}
				return errAgain
			}
		}
		return act(fd, st)
	})
}

func (r *Resolver) chmod(unsafePath string, mode fs.FileMode) error {
	err := r.change(unsafePath, func(fd int, _ *unix.Stat_t) error { return fchmod(fd, unixMode(mode)) })
	return pathError("chmod", unsafePath, err)
}

// fchmod changes the mode of an O_PATH descriptor's file. fchmodat2 is in
// Linux since 6.6; before, the descriptor's own name in /proc serves.
func fchmod(fd int, mode uint32) error {
	err := fsat.Retry(func() error { return unix.Fchmodat(fd, "", mode, unix.AT_EMPTY_PATH) })
	if err == unix.ENOSYS || err == unix.EOPNOTSUPP || err == unix.EINVAL {
		err = fsat.Retry(func() error { return unix.Fchmodat(unix.AT_FDCWD, fsat.ProcPath(fd), mode, 0) })
	}
	return err
}

func (r *Resolver) chown(unsafePath string, uid, gid int) error {
	err := r.change(unsafePath, func(fd int, _ *unix.Stat_t) error {
		return fsat.Retry(func() error { return unix.Fchownat(fd, "", uid, gid, unix.AT_EMPTY_PATH) })
	})
	return pathError("chown", unsafePath, err)
}

func (r *Resolver) chtimes(unsafePath string, atime, mtime time.Time) error {
	times := []unix.Timespec{timespec(atime), timespec(mtime)}
	err := r.change(unsafePath, func(fd int, _ *unix.Stat_t) error {
		err := fsat.Retry(func() error { return unix.UtimesNanoAt(fd, "", times, unix.AT_EMPTY_PATH) })
		if err == unix.EINVAL || err == unix.ENOENT { // before Linux 5.8
			err = fsat.Retry(func() error { return unix.UtimesNanoAt(unix.AT_FDCWD, fsat.ProcPath(fd), times, 0) })
		}
		return err
	})
	return pathError("chtimes", unsafePath, err)
}

func timespec(t time.Time) unix.Timespec {
	if t.IsZero() {
		return unix.Timespec{Nsec: unix.UTIME_OMIT}
	}
	return unix.NsecToTimespec(t.UnixNano())
}

func (r *Resolver) truncate(unsafePath string, size int64) error {
	var st unix.Stat_t
	fd, _, err := r.openFD(unsafePath, os.O_WRONLY, 0, &st)
	if err == nil {
		err = fsat.Retry(func() error { return unix.Ftruncate(fd, size) })
		_ = unix.Close(fd)
	}
	return pathError("truncate", unsafePath, err)
}
