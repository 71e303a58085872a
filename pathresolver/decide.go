package pathresolver

import (
	"fmt"
	"io/fs"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// denies says why op may not be done at place; nil if it may. kind is the type of
// what OpCreate makes; other operations ignore it. Renames and links have
// decisions of their own.
func (p *policy) denies(op access.Op, place string, kind fs.FileMode) *DeniedError {
	return p.decide(p.grant, op, place, kind)
}

// decide is denies with a grant.
func (p *policy) decide(grant Grant, op access.Op, place string, kind fs.FileMode) *DeniedError {
	v := p.verdictAt(place)
	if v.AskRead || v.AskWrite {
		v = grant.applied(v, op, place)
	}
	switch {
	case v.Hidden:
		return p.hidden(op, place, v)
	case op == access.OpRead && v.AskRead:
		g := p.askRead.covers(place)
		return p.denied(op, place, RuleAsk, "reading it is refused, but may be asked for").by(g.text, g.origin)
	case op == access.OpRead && v.Masked:
		return p.denied(op, place, RuleMasked, maskedRead).by(v.Pattern, v.Origin)
	case op == access.OpRead:
		return nil
	case v.Masked:
		return p.denied(op, place, RuleMasked, "its values are masked: programs in a view read it with stand-ins, and it is not changed").by(v.Pattern, v.Origin)
	case v.Trusted != nil:
		return p.denied(op, place, RuleProtected, p.opening(v.Trusted)).by(v.Pattern, v.Origin)
	case v.Protected && v.AskRead:
		return p.denied(op, place, RuleProtected, "the name is protected: it is not changed").by(v.Pattern, v.Origin)
	case v.Protected:
		return p.denied(op, place, RuleProtected, "the name is protected: it may be read but not changed").by(v.Pattern, v.Origin)
	case v.AskWrite && v.AskRead:
		return p.denied(op, place, RuleAsk, "reading and changing it is refused, but may be asked for").by(v.Pattern, v.Origin)
	case v.AskWrite:
		return p.denied(op, place, RuleAsk, "changing it is refused, but may be asked for. Reading is allowed").by(v.Pattern, v.Origin)
	case !v.Writable && v.AskRead:
		return p.denied(op, place, RuleNoWritePath, "no write path covers it").by("", lacking(p.writeLists, place))
	case !v.Writable:
		return p.denied(op, place, RuleNoWritePath, "no write path covers it. Reading is allowed").by("", lacking(p.writeLists, place))
	}
	if d := p.restricted(op, place, kind); d != nil {
		return d
	}
	switch op {
	case access.OpDelete, access.OpRename, access.OpLink:
		if p.isWritePath(place) {
			return p.denied(op, place, RuleWritePathSelf, "a write path itself is not moved or removed").by(place, p.writeAt[place])
		}
		return p.decideGitDir(op, place, kind)
	case access.OpCreate:
		if p.isWritePath(place) && kind.Type() != fs.ModeDir && kind.Type() != 0 {
			return p.denied(op, place, RuleWritePathSelf, "a write path itself can only be a directory or a regular file").by(place, p.writeAt[place])
		}
		if kind.Type()&(fs.ModeDevice|fs.ModeCharDevice) != 0 {
			return p.denied(op, place, RuleSpecialFile, "device files are not made")
		}
		if d := p.decideTrusted(op, place, kind); d != nil {
			return d
		}
		if d := p.decideGit(op, place, kind); d != nil {
			return d
		}
		return p.decideGitDir(op, place, kind)
	case access.OpWrite:
		if d := p.decideGit(op, place, kind); d != nil {
			return d
		}
		return p.decideGitDir(op, place, kind)
	case access.OpMeta:
		return p.decideGitDir(op, place, kind)
	}
	return nil
}

// maskedRead is why a resolver reads nothing that is masked: whoever reads through it gets
// the file itself.
const maskedRead = "its values are masked: only programs in a view read it, with stand-ins for them"

func (p *policy) decideRead(place string) *DeniedError { return p.denies(access.OpRead, place, 0) }

// decideLook says whether the name and the attributes of what is at a place may be
// seen. They may where only the content has to be asked for.
func (p *policy) decideLook(place string) *DeniedError {
	if v := p.verdictAt(place); v.Hidden {
		return p.hidden(access.OpRead, place, v)
	}
	return nil
}

// hidden is the refusal of a place that does not exist for the caller.
func (p *policy) hidden(op access.Op, place string, v resolved.Verdict) *DeniedError {
	if v.Pattern == "" {
		return p.denied(op, place, RuleNotReadable, "no read path covers it").by("", lacking(p.readLists, place))
	}
	return p.denied(op, place, RuleHidden, "the name is hidden").by(v.Pattern, v.Origin)
}

// refuseTraverseOnly refuses a file or a link that stands where a directory should
// lead to a read path.
func (p *policy) refuseTraverseOnly(op access.Op, unsafePath, place string, kind fs.FileMode) error {
	if kind.Type() == fs.ModeDir || !p.read.limited() {
		return nil
	}
	if _, traverseOnly := p.read.hides(place); !traverseOnly {
		return nil
	}
	return p.hidden(op, place, resolved.Verdict{}).asGiven(unsafePath)
}

// allows is Decide for opening a file, without building the refusal.
func (p *policy) allows(op access.Op, place string) bool {
	v := p.verdictAt(place)
	if v.AskRead || v.AskWrite {
		v = p.grant.applied(v, op, place)
	}
	if op == access.OpRead {
		return !v.Hidden && !v.AskRead && !v.Masked
	}
	return v.Writable && p.decideGit(op, place, 0) == nil && p.decideGitDir(op, place, 0) == nil && p.restricted(op, place, 0) == nil
}

// decideGit keeps ".git" at the root from becoming a file or a link, which
// would point git at another repository, with other hooks and configuration.
func (p *policy) decideGit(op access.Op, place string, kind fs.FileMode) *DeniedError {
	if p.gitDir && kind.Type() != fs.ModeDir && len(place) == len(".git") && fold(place) == ".git" {
		return p.denied(op, place, RuleProtected, ".git may be made as a directory, not as a file or a link, and nothing is moved there").by(".git", p.origins.Entries["protect"])
	}
	return nil
}

// decideRename says whether from may be moved to to, or exchanged with it: both
// must be writable, and neither may be a write path itself. Nothing moves when
// what it holds, or could hold if it were a directory, would leave the reach of
// a glob, or come to stand under a name that is protected or to be asked for.
// Whether it is a directory is not asked: that could change before the move.
// Read paths need no such rule: what may be moved lies beneath a write path, and
// that beneath a read path.
func (p *policy) decideRename(grant Grant, from, to string, exchange bool) *DeniedError {
	if d := p.decide(grant, access.OpRename, from, 0); d != nil {
		return d
	}
	if d := p.decide(grant, access.OpRename, to, 0); d != nil {
		return d
	}
	if d := p.decideGit(access.OpRename, to, 0); d != nil {
		return d
	}
	if d := p.decideMove(grant, from, to); d != nil {
		return d
	}
	if !exchange {
		return nil
	}
	if d := p.decideGit(access.OpRename, from, 0); d != nil {
		return d
	}
	return p.decideMove(grant, to, from)
}

// decideMove is the rule about what a directory holds, or could hold.
func (p *policy) decideMove(grant Grant, from, to string) *DeniedError {
	for _, set := range p.globs() {
		if g := set.escapes(from, to); g != nil && !p.appliesToMove(grant, set, from, to) {
			return p.denied(access.OpRename, from, RuleEscapes,
				fmt.Sprintf("moving it could take what it holds out of reach of the rule %q; copying is possible", g.text)).by(g.text, g.origin)
		}
	}
	if d := p.decideTrustedMove(from, to); d != nil {
		return d
	}
	for _, set := range []*ruleSet{&p.protect, &p.askWrite, &p.askRead, &p.mask} {
		if g := set.escapes(to, from); g != nil && !p.appliesToMove(grant, set, to, from) {
			return p.denied(access.OpRename, to, RuleEscapes,
				fmt.Sprintf("moving it here could put what it holds under names protected by %q", g.text)).by(g.text, g.origin)
		}
	}
	return nil
}

// decideLink says whether a second name to may be given to the file at from.
// The source must be writable: its new name would make it so.
func (p *policy) decideLink(grant Grant, from, to string) *DeniedError {
	d := p.decide(grant, access.OpWrite, from, 0)
	if d == nil && grant != nil && !p.givesAway(grant, from) {
		d = p.decide(nil, access.OpWrite, from, 0)
	}
	if d != nil {
		d.Op = access.OpLink
		return d
	}
	if d := p.decide(grant, access.OpLink, to, 0); d != nil {
		return d
	}
	if d := p.decideGit(access.OpLink, to, 0); d != nil {
		return d
	}
	return p.decideGitLink(from, to)
}

// denied builds the refusal. Path is the place until a verb, which knows what
// the caller wrote, puts that in its stead.
func (p *policy) denied(op access.Op, place string, rule access.Code, reason string) *DeniedError {
	d := &DeniedError{Op: op, Path: place, Place: place, Rule: rule, Reason: reason, Allowed: p.write}
	if op == access.OpRead {
		d.Allowed = p.read.paths
	}
	return d
}

// by says which entry decided, and where it was written.
func (d *DeniedError) by(pattern, origin string) *DeniedError {
	d.Pattern, d.Origin = pattern, origin
	return d
}

// restricted asks about a change that everything else allows.
func (p *policy) restricted(op access.Op, place string, kind fs.FileMode) *DeniedError {
	if p.restrict == nil {
		return nil
	}
	if reason := p.restrict(op, place, kind.Type()); reason != "" {
		return p.denied(op, place, RuleProtected, reason)
	}
	return nil
}
