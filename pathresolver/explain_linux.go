//go:build !portable

package pathresolver

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// Explain says what would be decided about op at a path, and why, without
// doing it. What the system itself would answer (permissions, a full disk) is
// not asked. A missing file is decided as if it were there, or about to be.
func (r *Resolver) Explain(op Op, unsafePath string) Decision {
	d := Decision{Op: op, Path: unsafePath, Writable: r.WritePaths(), Readable: r.ReadPaths()}
	if d.Writable == nil {
		d.Writable = []string{}
	}
	if err := r.explain(&d, op, unsafePath); err != nil {
		var denied *DeniedError
		if errors.As(err, &denied) {
			d.Rule, d.Reason, d.Pattern, d.Origin = denied.Rule, denied.Reason, denied.Pattern, denied.Origin
			return d
		}
		d.Reason = reason(err)
		return d
	}
	d.Allowed = true
	return d
}

func (r *Resolver) explain(d *Decision, op Op, unsafePath string) error {
	if _, err := access.ParseOp(string(op)); err != nil {
		return err
	}
	rel, err := r.relative(op, unsafePath)
	if err != nil {
		return err
	}
	w, err := r.locate(op, unsafePath, rel, op == OpRead || op == OpWrite || op == OpMeta || op == OpCreate)
	d.Link, d.Target = w.link, w.target
	if err != nil {
		return err
	}
	d.Place, d.Exists = w.place, w.missing == 0
	kind := fs.FileMode(0)
	if d.Exists {
		kind = fsat.FileMode(w.mode).Type()
	}
	if denied := r.Decide(op, w.place, kind); denied != nil {
		return denied.asGiven(unsafePath)
	}
	if d.Exists {
		if err := r.refuseTraverseOnly(op, unsafePath, w.place, kind); err != nil {
			return err
		}
	}
	if d.Exists && (op == OpRead || op == OpWrite) {
		if err := refuseSpecial(r, op, unsafePath, w.mode); err != nil {
			return err
		}
	}
	if d.Exists && (op == OpWrite || op == OpMeta) {
		if err := r.explainLinks(w.place); err != nil {
			return err
		}
	}
	if v := r.Verdict(w.place); op == OpRead {
		d.Reason = "it lies beneath the sandbox root"
	} else {
		d.Pattern, d.Origin, d.Reason = v.Pattern, v.Origin, v.whyWritable()
	}
	return nil
}

// explainLinks asks whether other hard links stand in the way.
func (r *Resolver) explainLinks(place string) error {
	fd, err := r.OpenPlace(place, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := fsat.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFREG {
		id, err := fileID(fd)
		if err != nil {
			return err
		}
		if _, denied := r.CheckLinks(place, id); denied != nil {
			return denied
		}
	}
	return nil
}
