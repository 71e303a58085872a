package permission

import (
	"bytes"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/globs"
)

// patternSet answers which of many patterns covers a place, in a time that
// hardly grows with their number: the usual shapes are looked up in maps by
// what is literal in them; a glob is tried only where what is literal in it
// agrees. The maps are asked only for lengths that occur in them.
type patternSet struct {
	rules    []*rule
	all      int                  // 1 + the rule that covers everything
	places   index                // a/b/c: the place itself
	names    index                // **/.env: a name, anywhere
	suffixes index                // **/*.pem: the end of a name, anywhere
	heads    map[string]*branches // src/*/gen: by the literal directory they begin with
	headLens lengths
	anywhere branches // globs that begin with a wildcard, but for those above
}

// index is a map that is asked only about lengths that occur in it.
type index struct {
	at   map[string]int
	lens lengths
}

// lengths is the set of the lengths of some strings, modulo 64.
type lengths uint64

func (l *lengths) add(n int)     { *l |= 1 << (n & 63) }
func (l lengths) has(n int) bool { return l&(1<<(n&63)) != 0 }

func (x *index) add(key string, rule int) {
	if x.at == nil {
		x.at = map[string]int{}
	}
	if _, twice := x.at[key]; !twice {
		x.at[key] = rule
		x.lens.add(len(key))
	}
}

func (x *index) find(key []byte) (int, bool) {
	if !x.lens.has(len(key)) {
		return 0, false
	}
	i, ok := x.at[string(key)]
	return i, ok
}

// newPatternSet indexes patterns; rules say where each stands.
func newPatternSet(patterns []pattern, rules []*rule) *patternSet {
	s := &patternSet{rules: rules}
	for i, p := range patterns {
		parts, n := p.Parts(), p.Literals()
		var begins, ends string // of the name in **/name
		anyDir := len(parts) == 2 && parts[0].Kind() == globs.AnyDepth
		if anyDir {
			begins, ends = parts[1].Ends()
		}
		switch {
		case len(parts) == 0:
			s.all = i + 1
		case n == len(parts):
			s.places.add(p.String(), i)
		case anyDir && parts[1].Kind() == globs.Literal:
			s.names.add(parts[1].Text(), i)
		case anyDir && parts[1].Kind() == globs.Simple && strings.HasPrefix(ends, ".") && begins == "":
			s.suffixes.add(ends, i)
		case n > 0:
			head := globs.Of(parts[:n]).String()
			if s.heads == nil {
				s.heads = map[string]*branches{}
			}
			if s.heads[head] == nil {
				s.heads[head] = &branches{}
			}
			s.heads[head].add(headed{glob: globs.Of(parts[n:]), rule: i})
			s.headLens.add(len(head))
		default:
			s.anywhere.add(headed{glob: p.Glob, rule: i})
		}
	}
	return s
}

// covers returns the rule that covers a place, or nil. A nil set covers
// nothing.
func (s *patternSet) covers(place []byte) *rule {
	if s == nil || len(s.rules) == 0 {
		return nil
	}
	if s.all > 0 {
		return s.rules[s.all-1]
	}
	if string(place) == "." {
		return nil
	}
	for start, end := 0, 0; end <= len(place); end++ {
		if end < len(place) && place[end] != '/' {
			continue
		}
		if i, ok := s.at(place, start, end); ok {
			return s.rules[i]
		}
		start = end + 1
	}
	if i := s.anywhere.find(place); i >= 0 {
		return s.rules[i]
	}
	return nil
}

// at asks the maps about the component place[start:end] and the directory
// place[:end].
func (s *patternSet) at(place []byte, start, end int) (int, bool) {
	if i, ok := s.places.find(place[:end]); ok {
		return i, true
	}
	name := place[start:end]
	if i, ok := s.names.find(name); ok {
		return i, true
	}
	if s.suffixes.lens != 0 {
		for dot := bytes.IndexByte(name, '.'); dot >= 0; {
			if i, ok := s.suffixes.find(name[dot:]); ok {
				return i, true
			}
			next := bytes.IndexByte(name[dot+1:], '.')
			if next < 0 {
				break
			}
			dot += 1 + next
		}
	}
	if s.headLens.has(end) && end < len(place) {
		if b := s.heads[string(place[:end])]; b != nil {
			i := b.find(place[end+1:])
			return i, i >= 0
		}
	}
	return 0, false
}
