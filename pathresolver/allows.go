package pathresolver

import "io/fs"

// Allows asks the rules whether op may be done at what the path leads to, and
// touches nothing: nil, or the *DeniedError that the verb would meet. kind is
// the type of what OpCreate makes. nil is no promise: the verb decides anew,
// and also looks at what it finds (hard links, devices), and at both ends of a
// move.
func (r *Resolver) Allows(op Op, unsafePath string, kind fs.FileMode) error {
	d := r.asks(op, unsafePath, kind)
	if d == nil {
		return nil
	}
	return d
}

// entryOp reports whether op acts on a name, and so does not follow a last
// link.
func entryOp(op Op, kind fs.FileMode) bool {
	return op == OpDelete || op == OpRename || op == OpLink || op == OpCreate && kind.Type() == fs.ModeSymlink
}
