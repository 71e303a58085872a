//go:build !linux || portable

package pathresolver

import (
	"errors"
	"io/fs"
)

func (r *Resolver) asks(op Op, unsafePath string, kind fs.FileMode) (d *DeniedError) {
	w, err := r.locate(op, unsafePath, !entryOp(op, kind))
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
