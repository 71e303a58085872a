package pathresolver

import (
	"slices"
	"strings"
)

// AskPlace is where something may have to be asked for.
type AskPlace struct {
	// Place is the literal beginning of a glob, "." where it begins with a
	// wildcard.
	Place string
	// Makes says that it may be asked for to make Place itself, where nothing
	// stands there.
	Makes bool
}

// AskPlaces returns the places at or beneath which everything lies that may
// have to be asked for, by AskRead and AskWrite: sorted, each once. What is
// hidden is not among them. It is for who arranges how a tree is served: what
// one place answers may be another answer tomorrow, so nobody may remember it.
func (r *Resolver) AskPlaces() []AskPlace {
	var places []AskPlace
	for _, set := range []*ruleSet{&r.askRead, &r.askWrite} {
		for i := range set.all {
			if at := set.all[i].askPlace(set == &r.askWrite); !r.Verdict(at.Place).Hidden {
				places = append(places, at)
			}
		}
	}
	slices.SortFunc(places, func(a, b AskPlace) int {
		if c := strings.Compare(a.Place, b.Place); c != 0 || a.Makes == b.Makes {
			return c
		} else if a.Makes {
			return -1
		}
		return 1
	})
	return slices.CompactFunc(places, func(a, b AskPlace) bool { return a.Place == b.Place })
}

// AsksRead reports whether reading anything at all may have to be asked for.
func (p *policy) AsksRead() bool { return !p.askRead.empty() }

// askPlace is where what a glob covers begins, spelled as the glob has it.
func (g *glob) askPlace(write bool) AskPlace {
	n := g.head()
	if n == 0 {
		return AskPlace{Place: "."}
	}
	given := strings.Split(strings.TrimPrefix(g.text, "./"), "/")
	return AskPlace{Place: strings.Join(given[:n], "/"), Makes: write && n == len(g.segs)}
}
