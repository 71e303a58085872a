package globs

import "math/bits"

// States is a set of states of the automaton that a Glob is over the components
// of a place: bit i is set when the components so far match the first i of the
// glob's. A walk carries them down with it, and so matches each name once,
// whatever the depth.
type States uint64

// Start is where every place begins.
func (g Glob) Start() States { return g.skip(1) }

// Matched reports whether the place that led here matches the whole glob.
func (g Glob) Matched(s States) bool { return s&(1<<len(g.parts)) != 0 }

// Step goes down by one name. That an ancestor matched is not kept.
func Step[T Text](g Glob, s States, name T) (next States) {
	for left := s &^ (1 << len(g.parts)); left != 0; left &= left - 1 {
		i := bits.TrailingZeros64(uint64(left))
		switch p := &g.parts[i]; {
		case p.kind == AnyDepth && i == len(g.parts)-1:
			next |= 1<<i | 1<<(i+1)
		case p.kind == AnyDepth:
			next |= 1 << i
		case Match(p, name):
			next |= 1 << (i + 1)
		}
	}
	return g.skip(next)
}

// Accepts reports whether the place that led here matches the whole glob with
// one more name: Matched after Step, for less.
func Accepts[T Text](g Glob, s States, name T) bool {
	last := len(g.parts) - 1
	return s&(1<<last) != 0 && Match(&g.parts[last], name)
}

// Beneath are the states of what may yet match further down; none are left where
// nothing can.
func (g Glob) Beneath(s States) States { return s &^ (1 << len(g.parts)) }

// StepCovered is Step, for rules that cover what they match with all that is
// beneath: what matched stays so.
func StepCovered[T Text](g Glob, s States, name T) States {
	return Step(g, s, name) | s&(1<<len(g.parts))
}

// skip adds the states that are reached for nothing: "**" may be empty, but for
// a last one, which stands for something.
func (g Glob) skip(s States) States {
	for i := range len(g.parts) - 1 {
		if s&(1<<i) != 0 && g.parts[i].kind == AnyDepth {
			s |= 1 << (i + 1)
		}
	}
	return s
}
