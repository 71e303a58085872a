package pathresolver

import (
	"io/fs"
	"slices"
)

// Access is one operation at one place.
type Access struct {
	Op    Op
	Place string
}

// Granting reports whether leave was given for op at a place that AskRead or
// AskWrite marks. It is asked nowhere else, so what is hidden, protected or
// covered by no write path stays so, whatever it says. It answers from memory
// and at once, and is safe for use by many goroutines; one that reads an atomic
// pointer has the leave that was given swapped in by that. nil is no leave.
//
// Leave to make a name is asked for as OpCreate, also where a link or a file
// gets that name; leave to move as OpRename at both ends. A second name would
// outlast any leave: it needs OpRename at the old one, besides OpWrite.
type Granting func(op Op, place string) bool

// Leave is leave for exactly these.
func Leave(accesses ...Access) Granting {
	return func(op Op, place string) bool { return slices.Contains(accesses, Access{op, place}) }
}

// DecideGranted is Decide for somebody who has leave besides what Config says.
func (p *policy) DecideGranted(leave Granting, op Op, place string, kind fs.FileMode) *DeniedError {
	return p.decide(p.granting.or(leave), op, place, kind)
}

// DecideRenameGranted is DecideRename likewise. What holds content that is to
// be asked for moves only with leave to read that.
func (p *policy) DecideRenameGranted(leave Granting, from, to string, exchange bool) *DeniedError {
	return p.decideRename(p.granting.or(leave), from, to, exchange)
}

// DecideLinkGranted is DecideLink likewise.
func (p *policy) DecideLinkGranted(leave Granting, from, to string) *DeniedError {
	return p.decideLink(p.granting.or(leave), from, to)
}

// givesAway reports whether what is at place may go out of reach of the rules
// that ask for it, as far as there are any.
func (p *policy) givesAway(leave Granting, place string) bool {
	v := p.Verdict(place)
	return (!v.AskWrite || leave.gives(OpRename, place)) && (!v.AskRead || leave.gives(OpRead, place))
}

// or is leave by either.
func (g Granting) or(other Granting) Granting {
	switch {
	case g == nil:
		return other
	case other == nil:
		return g
	}
	return func(op Op, place string) bool { return g(op, place) || other(op, place) }
}

// gives reports whether there is leave. Op is what the rules were asked.
func (g Granting) gives(op Op, place string) bool {
	if op == OpLink {
		op = OpCreate
	}
	return g != nil && g(op, place)
}

// lifted is a verdict without what leave was given for.
func (g Granting) lifted(v Verdict, op Op, place string) Verdict {
	switch {
	case g == nil:
	case op == OpRead:
		v.AskRead = v.AskRead && !g.gives(op, place)
	case v.AskWrite && g.gives(op, place):
		v.AskWrite, v.Writable = false, true
	}
	return v
}

// liftsMove reports whether leave covers a move of which a rule says that it
// loosens something: at is the end that the rule is about, other the other one.
// It does where what has to be asked for is that place itself. A rule that could
// match only deeper is about something that nobody was asked for.
func (p *policy) liftsMove(leave Granting, set *ruleSet, at, other string) bool {
	if leave == nil || set != &p.askRead && set != &p.askWrite || !leave.gives(OpRename, at) || !p.givesAway(leave, at) {
		return false
	}
	folded, there := fold(at), fold(other)
	for i := range set.all {
		if g := &set.all[i]; g.states(folded)&^g.states(there) != 0 && !g.covers(folded) {
			return false
		}
	}
	return true
}
