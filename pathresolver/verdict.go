package pathresolver

import (
	"fmt"
	"io/fs"
)

// policy is the compiled form of a Config: rules over places, immutable, and
// without any system call.
type policy struct {
	write   []string          // write paths as places, collapsed, sorted
	writeAt map[string]string // the same, for look-up: where each was written
	hide    ruleSet
	protect ruleSet
	gitDir  bool            // ".git" must not become anything but a directory
	uniform map[string]bool // write paths beneath which no rule says otherwise

	origins    Origins
	writeLists []bound
}

// Verdict is what the rules say about one place, whether or not something is
// there. Its zero value means readable and not writable.
type Verdict struct {
	Hidden    bool
	Protected bool
	Writable  bool   // a write path covers it, and it is neither hidden nor protected
	Pattern   string // the glob or write path that decided; "" if none did
	Origin    string // where that was written; "" if nobody said
}

// Verdict returns what the rules say about a place.
func (p *policy) Verdict(place string) Verdict {
	if g := p.hide.covers(place); g != nil {
		return Verdict{Hidden: true, Pattern: g.text, Origin: g.origin}
	}
	return p.writeVerdict(place)
}

// VerdictIn is Verdict of name in parent, for a caller who knows already that
// parent is not hidden.
func (p *policy) VerdictIn(parent, name string) Verdict {
	place := joinPlace(parent, name)
	if g := p.hide.matches(place); g != nil {
		return Verdict{Hidden: true, Pattern: g.text, Origin: g.origin}
	}
	return p.writeVerdict(place)
}

func (p *policy) writeVerdict(place string) Verdict {
	wp, ok := p.writePathOf(place)
	if g := p.protect.covers(place); g != nil {
		return Verdict{Protected: true, Pattern: g.text, Origin: g.origin}
	}
	if !ok {
		return Verdict{}
	}
	return Verdict{Writable: true, Pattern: wp, Origin: p.writeAt[wp]}
}

// writePathOf returns the write path that covers place.
func (p *policy) writePathOf(place string) (string, bool) {
	if len(p.write) == 0 {
		return "", false
	}
	if p.write[0] == "." {
		return ".", true
	}
	if len(p.write) <= 4 {
		for _, wp := range p.write {
			if within(place, wp) {
				return wp, true
			}
		}
		return "", false
	}
	for at := place; ; {
		if _, ok := p.writeAt[at]; ok {
			return at, true
		}
		parent, name := splitPlace(at)
		if name == "" || parent == "." {
			return "", false
		}
		at = parent
	}
}

// uniformBeneath reports whether no hide or protect glob can match beneath a
// write path, so that everything there has one verdict.
func (p *policy) uniformBeneath(wp string) bool {
	if p.gitDir && wp == "." {
		return false
	}
	return p.hide.mayMatchBeneath(wp) == nil && p.protect.mayMatchBeneath(wp) == nil
}

// isWritePath reports whether place is a write path itself.
func (p *policy) isWritePath(place string) bool {
	_, ok := p.writeAt[place]
	return ok
}

// Decide says whether op may be done at place: nil if so. kind is the type of
// what OpCreate makes; other operations ignore it. Renames and links have
// decisions of their own.
func (p *policy) Decide(op Op, place string, kind fs.FileMode) *DeniedError {
	v := p.Verdict(place)
	if v.Hidden {
		return p.denied(op, place, RuleHidden, "the name is hidden").by(v.Pattern, v.Origin)
	}
	if op == OpRead {
		return nil
	}
	if v.Protected {
		return p.denied(op, place, RuleProtected, "the name is protected: it may be read but not changed").by(v.Pattern, v.Origin)
	}
	if !v.Writable {
		return p.denied(op, place, RuleNoWritePath, "no write path covers it. Reading is allowed").by("", lacking(p.writeLists, place))
	}
	switch op {
	case OpDelete, OpRename, OpLink:
		if p.isWritePath(place) {
			return p.denied(op, place, RuleWritePathSelf, "a write path itself is not moved or removed").by(place, p.writeAt[place])
		}
	case OpCreate:
		if p.isWritePath(place) && kind.Type() != fs.ModeDir && kind.Type() != 0 {
			return p.denied(op, place, RuleWritePathSelf, "a write path itself can only be a directory or a regular file").by(place, p.writeAt[place])
		}
		if kind.Type()&(fs.ModeDevice|fs.ModeCharDevice) != 0 {
			return p.denied(op, place, RuleSpecialFile, "device files are not made")
		}
		return p.decideGit(op, place, kind)
	case OpWrite:
		return p.decideGit(op, place, kind)
	}
	return nil
}

// allows is Decide for opening a file, without building the refusal.
func (p *policy) allows(op Op, place string) bool {
	v := p.Verdict(place)
	return !v.Hidden && (op == OpRead || v.Writable && p.decideGit(op, place, 0) == nil)
}

// decideGit keeps ".git" at the root from becoming a file or a link, which
// would point git at another repository, with other hooks and configuration.
func (p *policy) decideGit(op Op, place string, kind fs.FileMode) *DeniedError {
	if p.gitDir && kind.Type() != fs.ModeDir && len(place) == len(".git") && fold(place) == ".git" {
		return p.denied(op, place, RuleProtected, ".git may be made as a directory, not as a file or a link, and nothing is moved there").by(".git", p.origins.Entries["protect"])
	}
	return nil
}

// DecideRename says whether from may be moved to to, or exchanged with it: both
// must be writable, and neither may be a write path itself. Nothing moves when
// what it holds, or could hold if it were a directory, would leave the reach of
// a hide or protect glob, or come to stand under a protected name. Whether it
// is a directory is not asked: that could change before the move.
func (p *policy) DecideRename(from, to string, exchange bool) *DeniedError {
	if d := p.Decide(OpRename, from, 0); d != nil {
		return d
	}
	if d := p.Decide(OpRename, to, 0); d != nil {
		return d
	}
	source, _ := p.writePathOf(from)
	target, _ := p.writePathOf(to)
	if p.uniform[source] && p.uniform[target] {
		return nil // no rule can match beneath either
	}
	if d := p.decideGit(OpRename, to, 0); d != nil {
		return d
	}
	if d := p.decideMove(from, to); d != nil {
		return d
	}
	if !exchange {
		return nil
	}
	if d := p.decideGit(OpRename, from, 0); d != nil {
		return d
	}
	return p.decideMove(to, from)
}

// decideMove is the rule about what a directory holds, or could hold.
func (p *policy) decideMove(from, to string) *DeniedError {
	for _, set := range []*ruleSet{&p.hide, &p.protect} {
		if g := set.escapes(from, to); g != nil {
			return p.denied(OpRename, from, RuleLoosens,
				fmt.Sprintf("moving it could take what it holds out of reach of the rule %q; copying is possible", g.text)).by(g.text, g.origin)
		}
	}
	if g := p.protect.escapes(to, from); g != nil {
		return p.denied(OpRename, to, RuleLoosens,
			fmt.Sprintf("moving it here could put what it holds under names protected by %q", g.text)).by(g.text, g.origin)
	}
	return nil
}

// DecideLink says whether a second name to may be given to the file at from.
// The source must be writable: its new name would make it so.
func (p *policy) DecideLink(from, to string) *DeniedError {
	if d := p.Decide(OpWrite, from, 0); d != nil {
		d.Op = OpLink
		return d
	}
	if d := p.Decide(OpLink, to, 0); d != nil {
		return d
	}
	return p.decideGit(OpLink, to, 0)
}

// MayHoldHidden reports whether a hide glob could match beneath place.
func (p *policy) MayHoldHidden(place string) bool {
	return p.hide.mayMatchBeneath(place) != nil
}

// denied builds the refusal. Path is the place until a verb, which knows what
// the caller wrote, puts that in its stead.
func (p *policy) denied(op Op, place string, rule Rule, reason string) *DeniedError {
	return &DeniedError{Op: op, Path: place, Rule: rule, Reason: reason, Allowed: p.write}
}

// by says which entry decided, and where it was written.
func (d *DeniedError) by(pattern, origin string) *DeniedError {
	d.Pattern, d.Origin = pattern, origin
	return d
}
