//go:build !portable

package pathresolver

import (
	"context"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// BreakLinks replaces the regular file at place by a copy that has one link,
// with the same mode, owner, times and extended attributes, but without
// set-user-id bits and file capabilities. The place is writable: the caller
// has decided. On an error nothing has changed.
func (r *Resolver) BreakLinks(place string) error {
	parent, name := splitPlace(place)
	dir, err := r.OpenPlace(parent, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	src, err := r.openIn(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|always)
	if err != nil {
		return err
	}
	defer unix.Close(src)
	temp, out, err := createTemp(dir, 0o600)
	if err != nil {
		return err
	}
	defer unix.Close(out)
	if err = copyWhole(out, src); err == nil {
		err = fsat.Retry(func() error { return unix.Renameat(dir, temp, dir, name) })
	}
	if err != nil {
		_ = unlink(dir, temp, 0)
	}
	return err
}

// copyWhole copies content, attributes and times.
func copyWhole(out, in int) error {
	if _, err := copyContent(context.Background(), out, 0, in); err != nil {
		return err
	}
	if err := copyAttributes(in, out); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := fsat.Fstat(in, &st); err != nil {
		return err
	}
	return unix.UtimesNanoAt(unix.AT_FDCWD, fsat.ProcPath(out), []unix.Timespec{st.Atim, st.Mtim}, 0)
}
