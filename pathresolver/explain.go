package pathresolver

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// whyWritable is the reason of a change that is allowed.
func whyWritable(v resolved.Verdict) string {
	if v.AskWrite {
		return "it was granted"
	}
	return "the write path '" + EscapePath(v.Pattern) + "' covers it"
}

// Explain says what would be decided about op at a path, and why, without
// doing it. What the system itself would answer (permissions, a full disk) is
// not asked. A missing file is decided as if it were there, or about to be.
func (r inside) Explain(op access.Op, unsafePath string) resolved.Decision {
	d := resolved.Decision{Op: op, Path: unsafePath, Writable: r.WritePaths(), Readable: r.ReadPaths()}
	if d.Writable == nil {
		d.Writable = []string{}
	}
	if err := r.explain(&d, op, unsafePath); err != nil {
		var denied *DeniedError
		if errors.As(err, &denied) {
			d.Place, d.Rule, d.Reason, d.Pattern, d.Origin = denied.Place, denied.Rule, denied.Reason, denied.Pattern, denied.Origin
			return d
		}
		d.Reason = reason(err)
		return d
	}
	d.Allowed = true
	return d
}

func (r *Resolver) explain(d *resolved.Decision, op access.Op, unsafePath string) error {
	if _, err := access.ParseOp(string(op)); err != nil {
		return err
	}
	rel, err := r.relative(op, unsafePath)
	if err != nil {
		return err
	}
	w, err := r.locate(op, unsafePath, rel, op == access.OpRead || op == access.OpWrite || op == access.OpMeta || op == access.OpCreate)
	d.Link, d.Target = w.link, w.target
	if err != nil {
		return err
	}
	d.Place, d.Exists = w.place, w.missing == 0
	kind := fs.FileMode(0)
	if d.Exists {
		kind = fsat.FileMode(w.mode).Type()
	}
	if denied := r.denies(op, w.place, kind); denied != nil {
		return denied.asGiven(unsafePath)
	}
	if d.Exists {
		if err := r.refuseTraverseOnly(op, unsafePath, w.place, kind); err != nil {
			return err
		}
	}
	if d.Exists && (op == access.OpRead || op == access.OpWrite) {
		if err := refuseSpecial(r, op, unsafePath, w.mode); err != nil {
			return err
		}
	}
	if d.Exists && (op == access.OpWrite || op == access.OpMeta) {
		if err := r.explainLinks(w.place); err != nil {
			return err
		}
	}
	if v := r.verdictAt(w.place); op == access.OpRead {
		d.Reason = "it lies beneath the sandbox root"
	} else {
		d.Pattern, d.Origin, d.Reason = v.Pattern, v.Origin, whyWritable(v)
	}
	return nil
}

// explainLinks asks whether other hard links stand in the way.
func (r *Resolver) explainLinks(place string) error {
	fd, err := r.openPlace(place, oPath|oNoFollow, 0)
	if err != nil {
		return err
	}
	defer closeHandle(fd)
	var st stat
	if err := fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&syscall.S_IFMT == syscall.S_IFREG {
		id, err := fileID(fd)
		if err != nil {
			return err
		}
		if _, denied := r.checkLinks(place, id); denied != nil {
			return denied
		}
	}
	return nil
}

// Resolve says which place a path leads to, and asks the rules whether op may be done
// there; it touches nothing. The error is the *DeniedError that the verb would return,
// together with the place if the path leads to one, or the system's error without a
// place. kind is the type of what OpCreate makes.
//
// nil is no promise: the verb decides anew, and also looks at what it finds (hard
// links, devices) and at both ends of a move. Bound makes sure that the path still
// leads there.
func (r *Resolver) Resolve(op access.Op, unsafePath string, kind fs.FileMode) (place string, err error) {
	rel, err := r.relative(op, unsafePath)
	if err != nil {
		return "", err
	}
	follow := !entryOp(op, kind)
	place, ok := r.settled(rel, follow)
	if !ok {
		w, err := r.locate(op, unsafePath, rel, follow)
		if err != nil {
			return "", pathError("resolve", unsafePath, err)
		}
		place = w.place
	}
	if d := r.denies(op, place, kind); d != nil {
		return place, d.asGiven(unsafePath)
	}
	return place, nil
}

// entryOp reports whether op acts on a name, and so does not follow a last
// link.
func entryOp(op access.Op, kind fs.FileMode) bool {
	return op == access.OpDelete || op == access.OpRename || op == access.OpLink || op == access.OpCreate && kind.Type() == fs.ModeSymlink
}

// settled reports whether one system call shows that the path leads where its
// names say.
func (r *Resolver) settled(rel string, follow bool) (place string, ok bool) {
	place, lexical := lexicalPlace(rel)
	if !lexical {
		return "", false
	}
	flags := oPath
	if !follow {
		flags |= oNoFollow
	}
	fd, err := r.openPlace(place, flags, 0)
	if err == nil {
		closePath(fd)
	}
	return place, err == nil || err == syscall.ENOENT
}
