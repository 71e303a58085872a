package pathresolver

import (
	"slices"
	"strings"
)

// AskPlaces returns the places beneath which everything lies that may have to
// be asked for: the literal beginning of each glob of AskRead and AskWrite,
// sorted, without duplicates; "." where one begins with a wildcard. What is
// hidden is not among them. It is for who arranges how a tree is served: what
// one place answers may be another answer tomorrow, so nobody may remember it.
func (r *Resolver) AskPlaces() []string {
	var places []string
	for _, set := range []*ruleSet{&r.askRead, &r.askWrite} {
		for _, g := range set.all {
			if head := literalHead(g.text); !r.Verdict(head).Hidden {
				places = append(places, head)
			}
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// AsksRead reports whether reading anything at all may have to be asked for.
func (p *policy) AsksRead() bool { return !p.askRead.empty() }

// literalHead is the place that a glob begins with, spelled as the glob has it.
func literalHead(text string) string {
	var head []string
	for seg := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(text, "./"), "/"), "/") {
		if !isLiteral(seg) {
			break
		}
		head = append(head, seg)
	}
	if len(head) == 0 {
		return "."
	}
	return strings.Join(head, "/")
}
