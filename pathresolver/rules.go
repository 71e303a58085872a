package pathresolver

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/globs"
)

// glob is one pattern of a rule that takes away. It covers the places that it
// matches and everything beneath them.
type glob struct {
	text   string     // as given
	segs   []string   // folded, split at "/", without a trailing "**"
	read   globs.Glob // the same
	origin string     // where it was written, for messages; "" if nobody said
	nth    int        // in its set
}

// compileGlob reads a glob over places, in the dialect of package globs and
// within its bounds.
func compileGlob(text string) (glob, error) {
	p := strings.TrimSuffix(strings.TrimPrefix(text, "./"), "/")
	switch {
	case p == "":
		return glob{}, errors.New("is empty")
	case strings.IndexByte(p, 0) >= 0:
		return glob{}, errors.New("holds a NUL byte")
	case strings.HasPrefix(p, "/"):
		return glob{}, errors.New(`begins with "/": globs are relative to the sandbox root`)
	case len(p) > globs.MaxBytes:
		return glob{}, fmt.Errorf("is longer than %d bytes", globs.MaxBytes) // before it is folded
	}
	// What a pattern matches it covers with all that is beneath, so "x/**" is
	// "x". A bare "**" still has to leave the root itself alone.
	p = fold(p)
	for strings.HasSuffix(p, "/**") {
		p = strings.TrimSuffix(p, "/**")
	}
	if p == "**" {
		p = "*"
	}
	read, err := globs.Parse(p)
	if err != nil {
		return glob{}, err
	}
	g := glob{text: text, read: read}
	for _, part := range read.Parts() {
		g.segs = append(g.segs, part.Text())
	}
	return g, nil
}

// fold is the spelling by which names are told apart. It is used for denying
// only.
func fold(s string) string { return globs.Fold(s) }

// isLiteral reports whether a segment stands for itself alone.
func isLiteral(seg string) bool { return !strings.ContainsAny(seg, `*?[{\`) }

// ruleSet matches many globs at once. The usual shapes cost one map look-up
// each, whatever their number; of the rest those are tried that an index finds.
type ruleSet struct {
	all      []glob
	firsts   map[string]bool  // first components of the globs that begin with a literal
	anywhere bool             // some glob begins with a wildcard
	places   map[string]*glob // a/b/c: the place itself
	names    map[string]*glob // **/.env: the last name, anywhere
	suffixes map[string]*glob // **/*.pem: the end of the last name, anywhere

	firstLens, placeLens, nameLens, suffixLens lengths

	few      []*glob          // the rest, while it is quicker to try them one by one
	rest     globIndex        // the rest
	below    map[string]*glob // the first glob whose literal beginning lies beneath a directory
	floating *glob            // the first of names and suffixes
}

// fewGlobs are tried faster one by one than by the index.
const fewGlobs = 8

// newRuleSet indexes globs. Of two that are alike the first is the one that is
// named.
func newRuleSet(globs []glob) ruleSet {
	s := ruleSet{all: globs, firsts: map[string]bool{}, places: map[string]*glob{}, names: map[string]*glob{}, suffixes: map[string]*glob{}, below: map[string]*glob{}}
	for i := range globs {
		g := &globs[i]
		g.nth = i
		head := g.head()
		if head > 0 {
			s.firsts[g.segs[0]] = true
			s.firstLens.add(g.segs[0])
		} else {
			s.anywhere = true
		}
		for n := 1; n < head; n++ {
			addFirst(s.below, strings.Join(g.segs[:n], "/"), g)
		}
		anyDir := len(g.segs) == 2 && g.segs[0] == "**"
		switch {
		case head == len(g.segs):
			addFirst(s.places, strings.Join(g.segs, "/"), g)
			s.placeLens.add(strings.Join(g.segs, "/"))
		case anyDir && isLiteral(g.segs[1]):
			addFirst(s.names, g.segs[1], g)
			s.nameLens.add(g.segs[1])
			s.floating = earlier(s.floating, g)
		case anyDir && strings.HasPrefix(g.segs[1], "*.") && isLiteral(g.segs[1][1:]):
			addFirst(s.suffixes, g.segs[1][1:], g)
			s.suffixLens.add(g.segs[1][1:])
			s.floating = earlier(s.floating, g)
		default:
			s.few = append(s.few, g)
			s.rest.add(g)
		}
	}
	if len(s.few) > fewGlobs {
		s.few = nil
	}
	return s
}

func addFirst(index map[string]*glob, key string, g *glob) {
	if index[key] == nil {
		index[key] = g
	}
}

func (s *ruleSet) empty() bool { return len(s.all) == 0 }

// foreign reports that no glob can match at or beneath place, judged by its
// first component alone.
func (s *ruleSet) foreign(place string) bool {
	if s.anywhere {
		return false
	}
	first, _, _ := strings.Cut(place, "/")
	first = fold(first)
	return !s.firstLens.has(first) || !s.firsts[first]
}

// covers returns the glob that covers place or one of its ancestors, or nil.
func (s *ruleSet) covers(place string) *glob {
	if s.empty() || place == "." || s.foreign(place) {
		return nil
	}
	folded := fold(place)
	for i := 0; i <= len(folded); i++ {
		if i == len(folded) || folded[i] == '/' {
			if g := s.indexed(folded[:i]); g != nil {
				return g
			}
		}
	}
	return s.tried(folded)
}

// matches returns the glob that covers place, whose parent none covers, or nil.
func (s *ruleSet) matches(place string) *glob {
	if s.empty() || s.foreign(place) {
		return nil
	}
	folded := fold(place)
	if g := s.indexed(folded); g != nil {
		return g
	}
	return s.tried(folded)
}

// tried asks the globs that are in no map.
func (s *ruleSet) tried(folded string) (found *glob) {
	if s.few != nil || len(s.rest.heads) == 0 {
		for _, g := range s.few {
			if g.covers(folded) {
				return g
			}
		}
		return nil
	}
	s.rest.each(folded, func(g *glob) {
		if (found == nil || g.nth < found.nth) && g.covers(folded) {
			found = g
		}
	})
	return found
}

// indexed asks the maps about exactly this folded place.
func (s *ruleSet) indexed(folded string) *glob {
	if s.placeLens.has(folded) {
		if g := s.places[folded]; g != nil {
			return g
		}
	}
	name := folded[strings.LastIndexByte(folded, '/')+1:]
	if s.nameLens.has(name) {
		if g := s.names[name]; g != nil {
			return g
		}
	}
	if s.suffixLens != 0 {
		for i := 0; i < len(name); i++ {
			if name[i] == '.' && s.suffixLens.has(name[i:]) {
				if g := s.suffixes[name[i:]]; g != nil {
					return g
				}
			}
		}
	}
	return nil
}

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
