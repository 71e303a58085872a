package permission

import (
	"bytes"
	"slices"
	"strings"
)

// headed is a glob without its literal beginning.
type headed struct {
	segs []segment
	rule int
}

// branches are the globs that begin with one literal directory. Of many those
// are tried that an index finds; what it leaves out cannot match.
type branches struct {
	all  []headed
	next segIndex // the component after the directory is matched by a wildcard
	deep segIndex // "**" comes after it: the segment that follows matches at any depth
}

// fewGlobs are tried faster one by one than by the index.
const fewGlobs = 8

func (b *branches) add(g headed) {
	b.all = append(b.all, g)
	if g.segs[0].kind == anyDepth {
		b.deep.add(&g.segs[1], g) // it does not end with one, and no two follow each other
	} else {
		b.next.add(&g.segs[0], g)
	}
}

// find returns the first rule of a glob that covers rest, what of a place comes
// after the directory; -1 is none.
func (b *branches) find(rest []byte) int {
	if len(b.all) <= fewGlobs {
		return first(b.all, rest, -1)
	}
	name, _, _ := bytes.Cut(rest, slash)
	found := b.next.find(name, rest, -1)
	if !b.deep.used {
		return found
	}
	for more, at := true, rest; more; {
		name, at, more = bytes.Cut(at, slash)
		found = b.deep.find(name, rest, found)
	}
	return found
}

var slash = []byte("/")

// first is the lowest rule of globs that covers rest, and found if that is
// lower.
func first(globs []headed, rest []byte, found int) int {
	for i := range globs {
		if g := &globs[i]; (found < 0 || g.rule < found) && covers(g.segs, rest) {
			found = g.rule
		}
	}
	return found
}

// segIndex holds globs by one of their segments, which each of them has to
// match by some component of a place.
type segIndex struct {
	names      map[string][]headed
	suffixes   map[string][]headed
	suffixLens []int
	prefixes   map[string][]headed
	prefixLens []int
	always     []headed // nothing in the segment is literal at either end
	used       bool
}

func (x *segIndex) add(seg *segment, g headed) {
	x.used = true
	prefix, suffix := literalEnds(seg.text)
	switch {
	case seg.kind == literal:
		put(&x.names, seg.text, g)
	case prefix == "" && suffix == "":
		x.always = append(x.always, g)
	case len(suffix) >= len(prefix):
		x.suffixLens = withLength(x.suffixLens, len(suffix))
		put(&x.suffixes, suffix, g)
	default:
		x.prefixLens = withLength(x.prefixLens, len(prefix))
		put(&x.prefixes, prefix, g)
	}
}

func put(index *map[string][]headed, key string, g headed) {
	if *index == nil {
		*index = map[string][]headed{}
	}
	(*index)[key] = append((*index)[key], g)
}

func withLength(lens []int, n int) []int {
	if slices.Contains(lens, n) {
		return lens
	}
	return append(lens, n)
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

// find is first over the globs whose segment may match name.
func (x *segIndex) find(name, rest []byte, found int) int {
	if !x.used {
		return found
	}
	found = first(x.names[string(name)], rest, found)
	for _, n := range x.suffixLens {
		if n <= len(name) {
			found = first(x.suffixes[string(name[len(name)-n:])], rest, found)
		}
	}
	for _, n := range x.prefixLens {
		if n <= len(name) {
			found = first(x.prefixes[string(name[:n])], rest, found)
		}
	}
	return first(x.always, rest, found)
}
