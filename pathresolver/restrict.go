package pathresolver

import "io/fs"

// Restricting may refuse a change that the rules allow, for a reason that
// globs cannot express, such as what stood there before. It returns the reason,
// one sentence without a full stop, and "" where it agrees: it can only take
// away. It is not asked about reading, nor about what the rules refuse.
//
// It is asked about a place before the operation, which may then fail; op is
// OpRename at both ends of a move, and OpCreate or OpLink for a new name. kind is
// the type of what OpCreate makes; for other operations it says nothing. It is
// safe for use by many goroutines and never waits for anybody: the file system
// is waiting for it.
type Restricting func(op Op, place string, kind fs.FileMode) (reason string)

// restricted asks about a change that everything else allows.
func (p *policy) restricted(op Op, place string, kind fs.FileMode) *DeniedError {
	if p.restrict == nil {
		return nil
	}
	if reason := p.restrict(op, place, kind.Type()); reason != "" {
		return p.denied(op, place, RuleProtected, reason)
	}
	return nil
}
