package pathresolver

import "strings"

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
