//go:build !portable

package pathresolver

import (
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// fileID describes the file behind fd; O_PATH will do.
func fileID(fd int) (FileID, error) {
	var sx unix.Statx_t
	err := fsat.Retry(func() error {
		return unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_INO|unix.STATX_NLINK|unix.STATX_BTIME, &sx)
	})
	if err == unix.ENOSYS {
		var st unix.Stat_t
		err = fsat.Fstat(fd, &st)
		return FileID{Dev: st.Dev, Ino: st.Ino, Links: uint32(st.Nlink)}, err
	}
	id := FileID{Dev: unix.Mkdev(sx.Dev_major, sx.Dev_minor), Ino: sx.Ino, Links: sx.Nlink}
	if sx.Mask&unix.STATX_BTIME != 0 {
		id.Born = sx.Btime.Sec*1e9 + int64(sx.Btime.Nsec)
	}
	return id, err
}

// removing describes the file at name in dir if losing that name is to be
// noted: call what it returns once the name is gone.
func (r *Resolver) removing(dir int, name string) (gone func()) {
	fd, err := fsat.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return func() {}
	}
	defer unix.Close(fd)
	id, err := fileID(fd)
	if err != nil || id.Links < 2 {
		return func() {}
	}
	return func() { r.NoteUnlink(id) }
}

// hasNotes reports whether any link was made through this resolver.
func (r *Resolver) hasNotes() bool {
	r.linksMu.Lock()
	defer r.linksMu.Unlock()
	return len(r.links) > 0
}
