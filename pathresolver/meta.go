package pathresolver

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/pinfold-dev/pinfold/access"
)

// change is look for operations that change what they find: hard links count,
// since mode and times belong to all names of a file.
func (r *Resolver) change(unsafePath string, act func(fd handle, st *stat) error) error {
	defer r.hold(access.OpMeta).release()
	return r.look(access.OpMeta, unsafePath, true, func(fd handle, place string, st *stat) error {
		if st.Mode&syscall.S_IFMT == syscall.S_IFREG && st.Nlink > 1 {
			id, err := fileID(fd)
			if err != nil {
				return err
			}
			breakIt, d := r.checkLinks(place, id)
			if d != nil {
				d.Op = access.OpMeta
				return d.asGiven(unsafePath)
			}
			if breakIt {
				if err := r.breakLinks(place); err != nil {
					return err
				}
				return errAgain
			}
		}
		return act(fd, st)
	})
}

// Chmod changes the mode of what the path leads to.
func (r *Resolver) Chmod(unsafePath string, mode fs.FileMode) error {
	err := r.change(unsafePath, func(fd handle, _ *stat) error { return fchmod(fd, unixMode(mode)) })
	return pathError("chmod", unsafePath, err)
}

// Chown changes owner and group of what the path leads to; -1 leaves one
// alone.
func (r *Resolver) Chown(unsafePath string, uid, gid int) error {
	err := r.change(unsafePath, func(fd handle, _ *stat) error {
		return fchown(fd, uid, gid)
	})
	return pathError("chown", unsafePath, err)
}

// Chtimes changes access and modification time; a zero Time leaves one alone.
func (r *Resolver) Chtimes(unsafePath string, atime, mtime time.Time) error {
	err := r.change(unsafePath, func(fd handle, _ *stat) error { return futimes(fd, atime, mtime) })
	return pathError("chtimes", unsafePath, err)
}

// Truncate sets a regular file's size in bytes.
func (r *Resolver) Truncate(unsafePath string, size int64) error {
	var st stat
	fd, _, err := r.openFD(unsafePath, os.O_WRONLY, 0, &st)
	if err == nil {
		err = ftruncate(fd, size)
		closeHandle(fd)
	}
	return pathError("truncate", unsafePath, err)
}
