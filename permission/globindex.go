package permission

import (
	"bytes"
	"slices"

	"github.com/pinfold-dev/pinfold/internal/globs"
)

// headed is a glob without its literal beginning.
type headed struct {
	glob globs.Glob
	rule int
	at   int // among those of its branches
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
	g.at = len(b.all)
	b.all = append(b.all, g)
	if parts := g.glob.Parts(); parts[0].Kind() == globs.AnyDepth {
		b.deep.add(&parts[1], g) // it does not end with one, and no two follow each other
	} else {
		b.next.add(&parts[0], g)
	}
}

// find returns the first rule of a glob that covers rest, what of a place comes
// after the directory; -1 is none.
func (b *branches) find(rest []byte) int {
	tried := tried{of: len(b.all)}
	if len(b.all) <= fewGlobs {
		return tried.first(b.all, rest, -1)
	}
	name, _, _ := bytes.Cut(rest, slash)
	found := b.next.find(name, rest, -1, &tried)
	if !b.deep.used {
		return found
	}
	for more, at := true, rest; more; {
		name, at, more = bytes.Cut(at, slash)
		found = b.deep.find(name, rest, found, &tried)
	}
	return found
}

// tried are the globs that were tried on a place: each is once, however many of
// the place's components the index finds it by. Otherwise a place of some thousand
// components would cost its square for each glob.
type tried struct {
	of   int // globs in all
	bits []uint64
}

// again reports whether a glob was tried, and notes that it is.
func (t *tried) again(at int) bool {
	if t.bits == nil {
		t.bits = make([]uint64, (t.of+63)/64)
	}
	bit := uint64(1) << (at % 64)
	before := t.bits[at/64]&bit != 0
	t.bits[at/64] |= bit
	return before
}

var slash = []byte("/")

// first is the lowest rule of a list that covers rest, and found if that is
// lower.
func (t *tried) first(list []headed, rest []byte, found int) int {
	for i := range list {
		g := &list[i]
		if found >= 0 && g.rule >= found || t.of > fewGlobs && t.again(g.at) {
			continue
		}
		if globs.Covers(g.glob, rest) {
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

func (x *segIndex) add(seg *globs.Part, g headed) {
	x.used = true
	prefix, suffix := seg.Ends()
	switch {
	case seg.Kind() == globs.Literal:
		put(&x.names, seg.Text(), g)
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

// find is first over the globs whose segment may match name.
func (x *segIndex) find(name, rest []byte, found int, t *tried) int {
	if !x.used {
		return found
	}
	found = t.first(x.names[string(name)], rest, found)
	for _, n := range x.suffixLens {
		if n <= len(name) {
			found = t.first(x.suffixes[string(name[len(name)-n:])], rest, found)
		}
	}
	for _, n := range x.prefixLens {
		if n <= len(name) {
			found = t.first(x.prefixes[string(name[:n])], rest, found)
		}
	}
	return t.first(x.always, rest, found)
}
