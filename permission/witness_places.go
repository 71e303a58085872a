package permission

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/globs"
)

// Bounds of the search for places.
const (
	maxPlaces = 20_000  // found by each of its parts
	maxSteps  = 1 << 23 // of one pattern over one name, or of its wildcards over 64 characters: some tenths of a second
	maxPairs  = 32      // globs of one component whose common names are looked for
)

// placesOf are places that the patterns of two policies tell apart: matches of
// each, and then every place that some combination of patterns covers or may
// yet cover, found by walking all patterns at once, name by name. Two places
// that leave every pattern in the same state are decided alike, with all
// beneath them, so one of them is enough. That is exact but for names that
// several globs of one component match and instances does not think of, and
// for what lies beyond the bounds.
func placesOf(a, b *Policy) []string {
	s := search{places: map[string]bool{".": true}, known: map[string]bool{}, names: map[string][]string{}}
	for _, p := range []*Policy{a, b} {
		for _, l := range p.layers() {
			s.addDocument(&l.src.Document)
		}
		for _, r := range p.always.rules {
			s.add([]string{r.text}, true)
		}
	}
	for _, w := range s.walkers {
		for _, at := range w.instances() {
			s.places[at] = true
			s.places[at+"/pf-x"] = true
			if cut := strings.LastIndexByte(at, '/'); cut > 0 {
				s.places[at[:cut]+"/pf-x"] = true
			}
		}
	}
	clear(s.known)
	if !s.walk() {
		s.meet()
	}
	return slices.SortedFunc(maps.Keys(s.places), func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a), strings.ToLower(b)), cmp.Compare(b, a)) // small letters first
	})
}

// search is the walk of all patterns at once.
type search struct {
	walkers []walker
	places  map[string]bool
	known   map[string]bool     // patterns, then states
	names   map[string][]string // instances, by a segment's text
	steps   int
}

// walker is a pattern that is matched name by name.
type walker struct {
	pattern
	folded bool
	wild   int // instructions of its wildcards
}

func (s *search) addDocument(d *Document) {
	if fs := d.FS; fs != nil {
		s.add(slices.Concat(fs.Read, fs.Write), false)
		s.add(slices.Concat(fs.AskRead, fs.AskWrite, fs.Hide, fs.Mask, fs.Protect, slices.Sorted(maps.Keys(opens(fs.Unprotect)))), true)
	}
	for _, t := range d.Tools {
		s.add(t.AllowedPaths, false)
	}
}

func (s *search) add(list []string, folded bool) {
	for _, text := range list {
		key := fmt.Sprint(folded, text)
		if p, err := parsePattern(text, folded); err == nil && p.Len() > 0 && !s.known[key] {
			s.known[key] = true
			s.walkers = append(s.walkers, walker{p, folded, p.Steps() - p.Len()})
		}
	}
}

// live is a pattern that covers a place or may cover one beneath.
type live struct {
	walker int
	at     globs.States // the components that may come next; covered
}

// covered stands for a pattern that covers the place and all beneath.
const covered = ^globs.States(0)

// walk goes breadth first, so that short places come before long ones. It
// reports whether it came to the end.
func (s *search) walk() bool {
	type reached struct {
		place string
		state []live
	}
	most := len(s.places) + maxPlaces
	var start []live
	for i := range s.walkers {
		start = append(start, live{i, s.walkers[i].Start()})
	}
	for queue := []reached{{"", start}}; len(queue) > 0; queue = queue[1:] {
		from := queue[0]
		for _, name := range s.namesFor(from.state) {
			if s.steps += s.work(from.state, name); s.steps > maxSteps || len(s.places) > most {
				return false
			}
			state, key := s.step(from.state, name)
			if s.known[key] {
				continue
			}
			s.known[key] = true
			place := strings.TrimPrefix(from.place+"/"+name, "/")
			s.places[place] = true
			queue = append(queue, reached{place, state})
		}
	}
	return true
}

// meet puts what floats beneath what is anchored: where there are too many
// patterns for the walk, most of what it would find.
func (s *search) meet() {
	most, steps := len(s.places)+maxPlaces, 0
	tails := make([][]string, len(s.walkers))
	for i := range s.walkers {
		tails[i] = s.walkers[i].instances()
	}
	for i := range s.walkers {
		for j := range s.walkers {
			if s.walkers[j].Parts()[0].Kind() == globs.Literal {
				continue
			}
			for _, at := range tails[i] {
				for _, tail := range tails[j] {
					steps++
					if s.places[at+"/"+tail] = true; len(s.places) > most || steps > maxPlaces*10 {
						return
					}
				}
			}
		}
	}
}

// work is how many steps it takes to match a name.
func (s *search) work(from []live, name string) int {
	n := 0
	for _, l := range from {
		n += 1 + s.walkers[l.walker].wild*len(name)/64
	}
	return n
}

// step is the state beneath a name, and a key for it.
func (s *search) step(from []live, name string) (state []live, key string) {
	exact, folded := []byte(name), []byte(globs.Fold(name))
	var k []byte
	for _, l := range from {
		w := &s.walkers[l.walker]
		text := exact
		if w.folded {
			text = folded
		}
		if at := w.step(l.at, text); at != 0 {
			state = append(state, live{l.walker, at})
			k = binary.AppendUvarint(binary.AppendUvarint(k, uint64(l.walker)), uint64(at))
		}
	}
	return state, string(k)
}

// step is what may come after a name.
func (w *walker) step(at globs.States, name []byte) globs.States {
	if at == covered {
		return covered
	}
	if at = globs.Step(w.Glob, at, name); w.Matched(at) {
		return covered
	}
	return at
}

// namesFor are the names that the patterns of a state tell apart, and one that
// none of them knows.
func (s *search) namesFor(state []live) []string {
	names := map[string]bool{"pf-x": true}
	simple := map[string]*globs.Part{}
	for _, l := range state {
		if l.at == covered {
			continue
		}
		w := &s.walkers[l.walker]
		parts := w.Parts()
		for i := range parts {
			if p := &parts[i]; l.at&(1<<i) != 0 && p.Kind() != globs.AnyDepth {
				for _, name := range s.instancesOf(p) {
					names[name] = true
					if w.folded { // a spelling that only rules which ignore case know
						names[strings.ToUpper(name)] = true
					}
				}
				if p.Kind() == globs.Simple {
					simple[p.Text()] = p
				}
			}
		}
	}
	if len(simple) <= maxPairs {
		for _, p := range simple {
			for _, q := range simple {
				begins, _ := p.Ends()
				_, ends := q.Ends()
				if name := begins + "pf" + ends; globs.Match(p, name) && globs.Match(q, name) {
					names[name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func (s *search) instancesOf(p *globs.Part) []string {
	list, ok := s.names[p.Text()]
	if !ok {
		list = namesOf(p)
		s.names[p.Text()] = list
	}
	return list
}
