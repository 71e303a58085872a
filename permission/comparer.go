package permission

import (
	"math"

	"github.com/pinfold-dev/pinfold/internal/globs"
)

// maxCompared bounds how many pairs of patterns Lint compares in one document:
// some tenths of a second. An index finds the pairs, and only patterns that
// have nothing literal at either end are compared with all.
const maxCompared = 2_000_000

// comparer answers which patterns of a list cover another, whole. It reads each
// list once.
type comparer struct {
	lists map[listKey]*patternList
	left  int // pairs that may be compared yet
}

// listKey is one list of a document, as it lies in memory.
type listKey struct {
	first  *string
	n      int
	folded bool
}

func newComparer() *comparer { return &comparer{map[listKey]*patternList{}, math.MaxInt} }

// tooMany reports whether some pairs were not compared.
func (c *comparer) tooMany() bool { return c.left <= 0 }

// list reads a list, or returns it as it was read before.
func (c *comparer) list(texts []string, folded bool) *patternList {
	if len(texts) == 0 {
		return &patternList{}
	}
	key := listKey{&texts[0], len(texts), folded}
	l := c.lists[key]
	if l == nil {
		l = newPatternList(texts, folded)
		c.lists[key] = l
	}
	return l
}

// covered reports whether an entry of a list covers all that pat covers.
func (c *comparer) covered(pat pattern, texts []string, folded bool) bool {
	if len(texts) == 0 {
		return false
	}
	if folded {
		pat, _ = parsePattern(pat.String(), true)
	}
	return c.first(pat, c.list(texts, folded), func(int) bool { return true }) >= 0
}

// first is the first entry of a list that covers all that pat covers, and of
// which more holds; -1 is none.
func (c *comparer) first(pat pattern, l *patternList, more func(i int) bool) int {
	found := -1
	l.candidates(pat, func(i int) {
		if found >= 0 && found <= i || c.left <= 0 {
			return
		}
		c.left--
		if pat.within(*l.patterns[i]) && more(i) {
			found = i
		}
	})
	return found
}

// patternList is a list of patterns by what is literal in them.
type patternList struct {
	patterns []*pattern // nil for what could not be read, which is refused elsewhere
	heads    map[string]*wide
}

// wide are the patterns that begin with one literal directory.
type wide struct {
	whole []int     // and end with it
	next  partIndex // the component after it is a wildcard
	deep  partIndex // "**" comes after it: by the component that follows
}

func newPatternList(texts []string, folded bool) *patternList {
	l := &patternList{}
	for _, text := range texts {
		pat, err := parsePattern(text, folded)
		if err != nil {
			l.patterns = append(l.patterns, nil)
			continue
		}
		l.add(pat)
	}
	return l
}

func (l *patternList) add(pat pattern) {
	i := len(l.patterns)
	l.patterns = append(l.patterns, &pat)
	parts, n := pat.Parts(), pat.Literals()
	head := globs.Of(parts[:n]).String()
	w := l.heads[head]
	if w == nil {
		if l.heads == nil {
			l.heads = map[string]*wide{}
		}
		w = &wide{}
		l.heads[head] = w
	}
	switch {
	case n == len(parts):
		w.whole = append(w.whole, i)
	case parts[n].Kind() == globs.AnyDepth:
		w.deep.add(&parts[n+1], i) // no "**" is the last, or follows another
	default:
		w.next.add(&parts[n], i)
	}
}

// covers reports whether an entry covers all that pat covers.
func (l *patternList) covers(pat pattern) bool {
	found := false
	l.candidates(pat, func(i int) { found = found || pat.within(*l.patterns[i]) })
	return found
}

// candidates gives the entries that may cover pat, some of them twice.
func (l *patternList) candidates(pat pattern, try func(i int)) {
	parts := pat.Parts()
	for n := 0; n <= pat.Literals(); n++ {
		w := l.heads[globs.Of(parts[:n]).String()]
		if w == nil {
			continue
		}
		for _, i := range w.whole {
			try(i)
		}
		if n < len(parts) {
			w.next.each(&parts[n], try)
		}
		for k := n; k < len(parts); k++ {
			w.deep.each(&parts[k], try)
		}
	}
}

// partIndex holds patterns by one of their components.
type partIndex struct {
	texts      map[string][]int // those that can only cover the same, or a name
	suffixes   map[string][]int
	suffixLens []int
	prefixes   map[string][]int
	prefixLens []int
	open       []int // nothing in it is literal at either end
	stars      []int // "*"
}

func (x *partIndex) add(p *globs.Part, i int) {
	put := func(index *map[string][]int, key string) {
		if *index == nil {
			*index = map[string][]int{}
		}
		(*index)[key] = append((*index)[key], i)
	}
	prefix, suffix := p.Ends()
	switch {
	case p.Text() == "*":
		x.stars = append(x.stars, i)
	case p.Kind() == globs.Literal:
		put(&x.texts, p.Text())
	case prefix == "" && suffix == "":
		put(&x.texts, p.Text())
		x.open = append(x.open, i)
	case len(suffix) >= len(prefix):
		x.suffixLens = withLength(x.suffixLens, len(suffix))
		put(&x.suffixes, suffix)
	default:
		x.prefixLens = withLength(x.prefixLens, len(prefix))
		put(&x.prefixes, prefix)
	}
}

// each gives the patterns whose component may match all that p matches, as
// partWithin tells.
func (x *partIndex) each(p *globs.Part, try func(i int)) {
	if p.Kind() == globs.AnyDepth {
		return
	}
	prefix, suffix := p.Ends()
	lists := [][]int{x.stars, x.texts[p.Text()]}
	if p.Kind() == globs.Literal {
		lists = append(lists, x.open)
	}
	for _, n := range x.suffixLens {
		if n <= len(suffix) {
			lists = append(lists, x.suffixes[suffix[len(suffix)-n:]])
		}
	}
	for _, n := range x.prefixLens {
		if n <= len(prefix) {
			lists = append(lists, x.prefixes[prefix[:n]])
		}
	}
	for _, list := range lists {
		for _, i := range list {
			try(i)
		}
	}
}
