package pathresolver

import (
	"io/fs"
	"slices"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/internal/trusted"
)

// policy is the compiled form of a Config: rules over places, immutable, and
// without any system call.
type policy struct {
	write      []string          // write paths as places, collapsed, sorted
	writeAt    map[string]string // the same, for look-up: where each was written
	read       readPaths
	hide       ruleSet
	askRead    ruleSet
	protect    ruleSet
	askWrite   ruleSet
	mask       ruleSet
	trusted    *trusted.Set
	unclearGit []Violation // why widens is false where that was wanted
	widens     bool        // write paths may be added: what git's configuration names is protected
	gitDir     bool        // ".git" must not become anything but a directory
	git        *gitGuard   // rules beneath git directories; nil: none

	restrict func(op access.Op, place string, kind fs.FileMode) (reason string) // what may refuse what the rules allow
	grant    Grant                                                              // of what askRead and askWrite mark

	origins    resolved.Origins
	writeLists []bound
	readLists  []bound
}

// verdictAt is what the rules say about a place.
func (p *policy) verdictAt(place string) resolved.Verdict {
	return p.verdict(place, p.hide.covers(place))
}

// verdictIn is verdictAt of name in parent, for a caller who knows already that
// parent is not hidden.
func (p *policy) verdictIn(parent, name string) resolved.Verdict {
	place := joinPlace(parent, name)
	return p.verdict(place, p.hide.matches(place))
}

// verdict is asked with the hide glob that covers the place, if one does.
func (p *policy) verdict(place string, hides *glob) (v resolved.Verdict) {
	if hides != nil {
		return resolved.Verdict{Hidden: true, Pattern: hides.text, Origin: hides.origin}
	}
	if v.Hidden, v.TraverseOnly = p.read.hides(place); v.Hidden {
		return v
	}
	asks := p.askRead.covers(place)
	v.AskRead = asks != nil
	wp, ok := p.writePathOf(place)
	ok = ok && !v.TraverseOnly
	if g := p.mask.covers(place); g != nil {
		v.Masked, v.Protected, v.Pattern, v.Origin = true, true, g.text, g.origin
		return v
	}
	if g := p.protect.covers(place); g != nil {
		v.Protected, v.Pattern, v.Origin = true, g.text, g.origin
		return v
	}
	if g := p.askWrite.covers(place); g != nil {
		asks, ok = g, true
	}
	if !ok {
		return v
	}
	if t := p.trusted.Covers(place); t != nil {
		v.Protected, v.Pattern, v.Origin, v.Trusted = true, t.Glob, p.origins.Entries["protect"], t
		return v
	}
	if asks != nil {
		v.AskWrite, v.Pattern, v.Origin = true, asks.text, asks.origin
	} else {
		v.Writable, v.Pattern, v.Origin = true, wp, p.writeAt[wp]
	}
	return v
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

// isWritePath reports whether place is a write path itself.
func (p *policy) isWritePath(place string) bool {
	_, ok := p.writeAt[place]
	return ok
}

// mayHoldHidden reports whether something beneath place, which is not hidden,
// could be.
func (p *policy) mayHoldHidden(place string) bool {
	_, traverseOnly := p.read.hides(place)
	return traverseOnly || p.hide.mayMatchBeneath(place) != nil
}

// hidesAny reports whether anything at all could be hidden.
func (p *policy) hidesAny() bool { return p.read.limited() || !p.hide.empty() }

// globs are all rules by glob. Each takes away.
func (p *policy) globs() [5]*ruleSet {
	return [5]*ruleSet{&p.hide, &p.askRead, &p.protect, &p.askWrite, &p.mask}
}

// mayHoldRules returns a glob that could match beneath place, or nil.
func (p *policy) mayHoldRules(place string) *glob {
	for _, set := range p.globs() {
		if g := set.mayMatchBeneath(place); g != nil {
			return g
		}
	}
	return nil
}

// refuseListing keeps a raw handle of a directory from showing hidden names.
func (p *policy) refuseListing(unsafePath, place string) error {
	const reason = "the directory may hold hidden names: list it with ReadDir, which leaves them out"
	if g := p.hide.mayMatchBeneath(place); g != nil {
		return p.denied(access.OpRead, unsafePath, RuleHidden, reason).by(g.text, g.origin)
	}
	if p.mayHoldHidden(place) {
		return p.denied(access.OpRead, unsafePath, RuleNotReadable, reason).by("", lacking(p.readLists, place))
	}
	return nil
}

// readPaths bound what exists for the caller. The zero value is no bound.
type readPaths struct {
	paths   []string        // as places, collapsed, sorted; nil: everything
	at      map[string]bool // the same, for look-up
	leading map[string]bool // the directories that lead to them
}

// newReadPaths collapses places that lie beneath one another. No places at all
// are no bound.
func newReadPaths(places []string) readPaths {
	r := readPaths{at: map[string]bool{}, leading: map[string]bool{}}
	for _, p := range places {
		if !slices.ContainsFunc(places, func(q string) bool { return q != p && within(p, q) }) && !r.at[p] {
			r.at[p] = true
			r.paths = append(r.paths, p)
		}
	}
	if len(r.paths) == 0 || r.at["."] {
		return readPaths{}
	}
	slices.Sort(r.paths)
	for _, p := range r.paths {
		for at, name := splitPlace(p); name != ""; at, name = splitPlace(at) {
			r.leading[at] = true
		}
	}
	return r
}

func (r *readPaths) limited() bool { return r.paths != nil }

// hides reports whether place does not exist for the caller, and otherwise
// whether it is only on the way to what does. Letter case counts: only what is
// named is allowed.
func (r *readPaths) hides(place string) (hidden, traverseOnly bool) {
	if !r.limited() {
		return false, false
	}
	for at := place; ; {
		if r.at[at] {
			return false, false
		}
		parent, name := splitPlace(at)
		if name == "" {
			break
		}
		at = parent
	}
	return !r.leading[place], r.leading[place]
}
