package pathresolver

import "strings"

// globIndex finds among globs with wildcards those that can have to do with a
// place, so that each place costs the same however many globs there are. What
// it finds is still to be matched; what it leaves out cannot match.
type globIndex struct {
	heads map[string]*branches // by the literal directory that a glob begins with, "" if none
	lens  lengths              // of those
}

// lengths is the set of the lengths of some keys, modulo 64: most of what is
// not among the keys is told by that.
type lengths uint64

func (l *lengths) add(key string)     { *l |= 1 << (len(key) & 63) }
func (l lengths) has(key string) bool { return l&(1<<(len(key)&63)) != 0 }

// branches are the globs that begin with one literal directory.
type branches struct {
	next segIndex // the component after it is matched by a wildcard
	deep segIndex // "**" comes after it: the segment that follows matches at any depth
}

func (x *globIndex) add(g *glob) {
	head := g.head()
	if x.heads == nil {
		x.heads = map[string]*branches{}
	}
	key := strings.Join(g.segs[:head], "/")
	b := x.heads[key]
	if b == nil {
		b = &branches{}
		x.heads[key] = b
		x.lens.add(key)
	}
	if g.segs[head] != "**" {
		b.next.add(g.segs[head], g)
		return
	}
	for g.segs[head] == "**" { // it does not end with one
		head++
	}
	b.deep.add(g.segs[head], g)
}

// head are the globs that begin with exactly this directory, or nil.
func (x *globIndex) head(at string) *branches {
	if !x.lens.has(at) {
		return nil
	}
	return x.heads[at]
}

// head is how many segments at the beginning are literal.
func (g *glob) head() int {
	n := 0
	for n < len(g.segs) && isLiteral(g.segs[n]) {
		n++
	}
	return n
}

// each gives the globs with a wildcard of which a segment may match a component
// of folded, beyond the literal directory that they begin with.
func (x *globIndex) each(folded string, try func(*glob)) {
	for end := 0; end < len(folded); {
		if b := x.head(folded[:end]); b != nil {
			b.eachBeneath(strings.TrimPrefix(folded[end:], "/"), try)
		}
		end = componentEnd(folded, end)
	}
}

// componentEnd is where the component ends that follows the one that ends at
// end, 0 for none.
func componentEnd(folded string, end int) int {
	if end > 0 {
		end++
	}
	if i := strings.IndexByte(folded[end:], '/'); i >= 0 {
		return end + i
	}
	return len(folded)
}

func (b *branches) eachBeneath(rest string, try func(*glob)) {
	name, rest, more := strings.Cut(rest, "/")
	b.next.each(name, try)
	if b.deep.first == nil {
		return
	}
	for b.deep.each(name, try); more; b.deep.each(name, try) {
		name, rest, more = strings.Cut(rest, "/")
	}
}

// earlier is the one of two that was given first; nil is none.
func earlier(a, b *glob) *glob {
	if a == nil || b != nil && b.nth < a.nth {
		return b
	}
	return a
}

// segIndex holds globs by one of their segments, which each of them has to
// match by some component of the place.
type segIndex struct {
	first      *glob // of all in it
	names      map[string][]*glob
	suffixes   map[string][]*glob
	suffixLens []int
	prefixes   map[string][]*glob
	prefixLens []int
	always     []*glob // nothing in the segment is literal at either end
}

func (x *segIndex) add(seg string, g *glob) {
	if x.first == nil {
		x.first = g
	}
	prefix, suffix := literalEnds(seg)
	switch {
	case isLiteral(seg):
		put(&x.names, seg, g)
	case suffix == "" && prefix == "":
		x.always = append(x.always, g)
	case len(suffix) >= len(prefix):
		x.suffixLens = put(&x.suffixes, suffix, g, x.suffixLens...)
	default:
		x.prefixLens = put(&x.prefixes, prefix, g, x.prefixLens...)
	}
}

// put adds g under key, and returns the lengths that keys have, as they were
// given, with that of key.
func put(index *map[string][]*glob, key string, g *glob, lens ...int) []int {
	if *index == nil {
		*index = map[string][]*glob{}
	}
	(*index)[key] = append((*index)[key], g)
	for _, l := range lens {
		if l == len(key) {
			return lens
		}
	}
	return append(lens, len(key))
}

// literalEnds are what every name that a segment matches begins and ends with.
// They may be shorter than they could be.
func literalEnds(seg string) (prefix, suffix string) {
	const special = `*?[]{},\`
	i := strings.IndexAny(seg, special)
	if i < 0 {
		return seg, seg
	}
	return seg[:i], seg[strings.LastIndexAny(seg, special)+1:]
}

// each gives the globs whose segment may match name.
func (x *segIndex) each(name string, try func(*glob)) {
	if x.first == nil {
		return
	}
	for _, g := range x.names[name] {
		try(g)
	}
	for _, l := range x.suffixLens {
		if l <= len(name) {
			for _, g := range x.suffixes[name[len(name)-l:]] {
				try(g)
			}
		}
	}
	for _, l := range x.prefixLens {
		if l <= len(name) {
			for _, g := range x.prefixes[name[:l]] {
				try(g)
			}
		}
	}
	for _, g := range x.always {
		try(g)
	}
}
