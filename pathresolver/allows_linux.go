//go:build !portable

package pathresolver

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// asks walks to the place and decides. What the system says on the way is for
// the verb to meet.
func (r *Resolver) asks(op Op, unsafePath string, kind fs.FileMode) (d *DeniedError) {
	rel, err := r.relative(op, unsafePath)
	if errors.As(err, &d) {
		return d
	}
	follow := !entryOp(op, kind)
	if r.settled(op, rel, kind, follow) {
		return nil
	}
	w, err := r.locate(op, unsafePath, rel, follow)
	switch {
	case errors.As(err, &d):
		return d
	case err != nil:
		return nil
	}
	if d = r.Decide(op, w.place, kind); d != nil {
		return d.asGiven(unsafePath)
	}
	return nil
}

// settled reports whether one system call shows that the path leads where its
// names say, and the rules allow it there.
func (r *Resolver) settled(op Op, rel string, kind fs.FileMode, follow bool) bool {
	flags := unix.O_PATH
	if !follow {
		flags |= unix.O_NOFOLLOW
	}
	var fd int
	var err error
	place, lexical := lexicalPlace(rel)
	switch {
	case op == OpRead && r.openat2 && r.plain:
		fd, err = fsat.Openat2(r.rootFD, rel, flags, 0, following)
	case lexical && r.Decide(op, place, kind) == nil:
		fd, err = r.OpenPlace(place, flags, 0)
	default:
		return false
	}
	if err == nil {
		fsat.ClosePath(fd)
	}
	return err == nil || err == unix.ENOENT && lexical
}
