package hostpath

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// Open is os.OpenFile for an absolute path that leads over no link, such as
// Path.Real: one that has taken the place of any part since is an error, and
// nothing is made behind it.
func Open(path string, flag int, perm os.FileMode) (*os.File, error) {
	failed := func(err error) (*os.File, error) { return nil, &os.PathError{Op: "open", Path: path, Err: err} }
	parts := strings.FieldsFunc(path, func(c rune) bool { return c == filepath.Separator })
	if !filepath.IsAbs(path) || len(parts) == 0 {
		return failed(unix.EINVAL)
	}
	dir, err := fsat.Openat(unix.AT_FDCWD, "/", unix.O_PATH|unix.O_DIRECTORY, 0)
	for _, part := range parts[:len(parts)-1] {
		if err != nil {
			return failed(err)
		}
		var next int
		next, err = fsat.Openat(dir, part, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		fsat.ClosePath(dir)
		dir = next
	}
	if err != nil {
		return failed(err)
	}
	defer fsat.ClosePath(dir)
	fd, err := fsat.Openat(dir, parts[len(parts)-1], flag|unix.O_NOFOLLOW, uint32(perm.Perm()))
	if err != nil {
		return failed(err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// Owner is the user id that a file belongs to, if that can be told.
func Owner(path string) (uid int, known bool) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return 0, false
	}
	return int(st.Uid), true
}
