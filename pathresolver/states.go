package pathresolver

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A glob is read as a small automaton over path components: state i means
// that the components so far have matched segs[:i]. A set of states is a bit
// mask. The rules about moving directories compare such sets, so that they
// follow from the patterns alone and never from a scan of the tree.

// states returns the states after the components of a folded place. Bit
// len(segs) is set when the place or one of its ancestors matches.
func (g *glob) states(folded string) uint64 {
	s := g.closure(1)
	if folded == "." {
		return s
	}
	for rest := folded; s != 0; {
		name, tail, more := strings.Cut(rest, "/")
		s = g.step(s, name)
		if !more {
			break
		}
		rest = tail
	}
	return s
}

// covers reports whether the glob matches a folded place or one of its
// ancestors.
func (g *glob) covers(folded string) bool { return g.states(folded)&(1<<len(g.segs)) != 0 }

// step consumes one component.
func (g *glob) step(s uint64, name string) uint64 {
	next := s & (1 << len(g.segs)) // what is covered stays so, however deep
	for i, seg := range g.segs {
		if s&(1<<i) == 0 {
			continue
		}
		switch {
		case seg == "**":
			next |= 1 << i
		case seg == name && isLiteral(seg):
			next |= 1 << (i + 1)
		case !isLiteral(seg):
			// A name is one component and holds no separator.
			if ok, err := doublestar.Match(seg, name); ok && err == nil {
				next |= 1 << (i + 1)
			}
		}
	}
	return g.closure(next)
}

// closure adds the states that are reached for nothing: "**" may be empty.
func (g *glob) closure(s uint64) uint64 {
	for i, seg := range g.segs {
		if s&(1<<i) != 0 && seg == "**" {
			s |= 1 << (i + 1)
		}
	}
	return s
}
