package pathresolver

import (
	"strings"

	"github.com/pinfold-dev/pinfold/internal/globs"
)

// A glob is read as a small automaton over path components: state i means
// that the components so far have matched segs[:i]. A set of states is a bit
// mask. The rules about moving directories compare such sets, so that they
// follow from the patterns alone and never from a scan of the tree.

// states returns the states after the components of a folded place. Bit
// len(segs) is set when the place or one of its ancestors matches.
func (g *glob) states(folded string) globs.States {
	s := g.read.Start()
	if folded == "." {
		return s
	}
	for rest := folded; s != 0; {
		name, tail, more := strings.Cut(rest, "/")
		s = globs.StepCovered(g.read, s, name)
		if !more {
			break
		}
		rest = tail
	}
	return s
}

// covers reports whether the glob matches a folded place or one of its
// ancestors.
func (g *glob) covers(folded string) bool { return folded != "." && globs.Covers(g.read, folded) }
