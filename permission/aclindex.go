package permission

import "strings"

// sessionIndex answers which of many patterns over session keys matches a key
// first, in a time that hardly grows with their number: a pattern without a
// star is looked up whole, any other is tried only where one of its own
// segments, the rarest, stands in the key.
type sessionIndex struct {
	list    []sessionPattern // as they were written
	exact   map[string]int
	anchors map[string][]anchored // by the anchor's text
	lens    lengths               // of those texts
	rest    []int                 // without any literal segment: stars alone
}

// anchored is a pattern and where its anchor has to stand.
type anchored struct {
	from    anchorFrom
	at      int
	pattern int
}

// anchor is a literal segment of a pattern and where in a key it has to stand.
type anchor struct {
	from anchorFrom
	at   int // segments away from there
	text string
}

type anchorFrom uint8

const (
	fromStart anchorFrom = iota
	fromEnd              // of a pattern that only begins with a star
	fromAny              // of one with a star at both ends
)

func newSessionIndex(list []sessionPattern) sessionIndex {
	x := sessionIndex{list: list, exact: map[string]int{}, anchors: map[string][]anchored{}}
	often := map[anchor]int{}
	for _, p := range list {
		for _, a := range p.anchors() {
			often[a]++
		}
	}
	known := map[string]bool{}
	for i, p := range list {
		if known[p.text] {
			continue // the first of the same text is the one that is named
		}
		known[p.text] = true
		if !strings.Contains(p.text, "*") {
			x.exact[p.text] = i
			continue
		}
		anchors := p.anchors()
		if len(anchors) == 0 {
			x.rest = append(x.rest, i)
			continue
		}
		rarest := anchors[0]
		for _, a := range anchors[1:] {
			if often[a] < often[rarest] {
				rarest = a
			}
		}
		x.anchors[rarest.text] = append(x.anchors[rarest.text], anchored{rarest.from, rarest.at, i})
		x.lens.add(len(rarest.text))
	}
	return x
}

// anchors are the literal segments of the pattern.
func (p sessionPattern) anchors() (list []anchor) {
	last := len(p.segs) - 1
	from := fromStart
	if p.segs[0] == "*" {
		if from = fromEnd; p.segs[last] == "*" {
			from = fromAny
		}
	}
	for i, s := range p.segs {
		switch {
		case s == "*":
		case from == fromStart:
			list = append(list, anchor{from, i, s})
		case from == fromEnd:
			list = append(list, anchor{from, last - i, s})
		default:
			list = append(list, anchor{from, 0, s})
		}
	}
	return list
}

// match returns the first pattern that matches a key. It allocates nothing.
func (x *sessionIndex) match(key string) (sessionPattern, bool) {
	first := len(x.list)
	if i, ok := x.exact[key]; ok {
		first = i
	}
	for _, i := range x.rest {
		if i < first && x.list[i].matches(key) {
			first = i
		}
	}
	if len(x.anchors) > 0 {
		n := strings.Count(key, ":")
		for i, rest := 0, key; i <= n; i++ {
			var name string
			if name, rest, _ = strings.Cut(rest, ":"); !x.lens.has(len(name)) {
				continue
			}
			for _, a := range x.anchors[name] {
				stands := a.from == fromAny || a.from == fromStart && a.at == i || a.from == fromEnd && a.at == n-i
				if stands && a.pattern < first && x.list[a.pattern].matches(key) {
					first = a.pattern
				}
			}
		}
	}
	if first == len(x.list) {
		return sessionPattern{}, false
	}
	return x.list[first], true
}
