package pathresolver

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// Grant reports whether op was granted at a place that AskRead or AskWrite marks. It
// is asked about no other place, so what is hidden, protected or covered by no write
// path stays refused, whatever it returns. It answers from memory and at once, and is
// safe for use by many goroutines; one that reads an atomic pointer can have its
// grants swapped. nil grants nothing.
//
// Making a name is granted as OpCreate, also where a link or a file gets that name;
// moving is granted as OpRename at both ends. A hard link outlasts every grant, so it
// needs OpRename at the old name besides OpWrite.
type Grant func(op access.Op, place string) bool

// DecideGranted is Decide with a grant besides that of Config.
func (r inside) DecideGranted(grant Grant, op access.Op, place string, kind fs.FileMode) *DeniedError {
	return r.decide(r.grant.or(grant), op, place, kind)
}

// DecideRenameGranted is decideRename likewise. What has to be asked for before
// it is read moves only if reading it was granted, too.
func (r inside) DecideRenameGranted(grant Grant, from, to string, exchange bool) *DeniedError {
	return r.decideRename(r.grant.or(grant), from, to, exchange)
}

// DecideLinkGranted is decideLink likewise.
func (r inside) DecideLinkGranted(grant Grant, from, to string) *DeniedError {
	return r.decideLink(r.grant.or(grant), from, to)
}

// givesAway reports whether what is at place may leave the reach of the rules that ask
// for it. Where there are none, it may.
func (p *policy) givesAway(grant Grant, place string) bool {
	v := p.verdictAt(place)
	return (!v.AskWrite || grant.gives(access.OpRename, place)) && (!v.AskRead || grant.gives(access.OpRead, place))
}

// or is what either of them grants.
func (g Grant) or(other Grant) Grant {
	switch {
	case g == nil:
		return other
	case other == nil:
		return g
	}
	return func(op access.Op, place string) bool { return g(op, place) || other(op, place) }
}

// gives reports whether op, as the rules were asked about it, is granted.
func (g Grant) gives(op access.Op, place string) bool {
	if op == access.OpLink {
		op = access.OpCreate
	}
	return g != nil && g(op, place)
}

// applied is a verdict with the grant applied.
func (g Grant) applied(v resolved.Verdict, op access.Op, place string) resolved.Verdict {
	switch {
	case g == nil:
	case op == access.OpRead:
		v.AskRead = v.AskRead && !g.gives(op, place)
	case v.AskWrite && g.gives(op, place):
		v.AskWrite, v.Writable = false, true
	}
	return v
}

// appliesToMove reports whether a grant covers a move that escapes a rule; at is the
// end that the rule is about, other is the other end. The grant covers it only where
// the rule asks for that very place. What a rule could match deeper inside nobody was
// asked about.
func (p *policy) appliesToMove(grant Grant, set *ruleSet, at, other string) bool {
	if grant == nil || set != &p.askRead && set != &p.askWrite || !grant.gives(access.OpRename, at) || !p.givesAway(grant, at) {
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

// AskPlaces returns the places at or beneath which everything lies that may have to be
// asked for, by AskRead and AskWrite: sorted, each once, without hidden ones. It is
// for arranging how a tree is served. The answers for these places can change while
// grants come and go, so they must not be remembered.
func (r inside) AskPlaces() []resolved.AskPlace {
	var places []resolved.AskPlace
	for _, set := range []*ruleSet{&r.askRead, &r.askWrite} {
		for i := range set.all {
			if at := set.all[i].askPlace(set == &r.askWrite); !r.verdictAt(at.Place).Hidden {
				places = append(places, at)
			}
		}
	}
	slices.SortFunc(places, func(a, b resolved.AskPlace) int {
		if c := strings.Compare(a.Place, b.Place); c != 0 || a.Makes == b.Makes {
			return c
		} else if a.Makes {
			return -1
		}
		return 1
	})
	return slices.CompactFunc(places, func(a, b resolved.AskPlace) bool { return a.Place == b.Place })
}

// AsksRead reports whether reading anything at all may have to be asked for.
func (r inside) AsksRead() bool { return !r.askRead.empty() }

// MasksAny reports whether anything at all could be masked.
func (r inside) MasksAny() bool { return !r.mask.empty() }

// askPlace is where what a glob covers begins, spelled as the glob has it.
func (g *glob) askPlace(write bool) resolved.AskPlace {
	n := g.head()
	if n == 0 {
		return resolved.AskPlace{Place: "."}
	}
	given := strings.Split(strings.TrimPrefix(g.text, "./"), "/")
	return resolved.AskPlace{Place: strings.Join(given[:n], "/"), Makes: write && n == len(g.segs)}
}
