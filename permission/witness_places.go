package permission

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Bounds of the search for places.
const (
	maxPlaces = 20_000  // found by each of its parts
	maxSteps  = 1 << 23 // of one pattern over one name: some tenths of a second
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
}

func (s *search) addDocument(d *Document) {
	if fs := d.FS; fs != nil {
		s.add(slices.Concat(fs.Read, fs.Write), false)
		s.add(slices.Concat(fs.AskRead, fs.AskWrite, fs.Hide, fs.Protect), true)
	}
	for _, t := range d.Tools {
		s.add(t.AllowedPaths, false)
	}
}

func (s *search) add(list []string, folded bool) {
	for _, text := range list {
		key := fmt.Sprint(folded, text)
		if p, err := parsePattern(text, folded); err == nil && len(p.segs) > 0 && !s.known[key] {
			s.known[key] = true
			s.walkers = append(s.walkers, walker{p, folded})
		}
	}
}

// live is a pattern that covers a place or may cover one beneath.
type live struct {
	walker int
	at     uint64 // the components that may come next, as bits; covered
}

// covered stands for a pattern that covers the place and all beneath.
const covered = ^uint64(0)

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
		start = append(start, live{i, s.walkers[i].skip(1)})
	}
	for queue := []reached{{"", start}}; len(queue) > 0; queue = queue[1:] {
		from := queue[0]
		for _, name := range s.namesFor(from.state) {
			if s.steps += len(from.state); s.steps > maxSteps || len(s.places) > most {
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
	most := len(s.places) + maxPlaces
	for _, p := range s.walkers {
		for _, q := range s.walkers {
			if q.segs[0].kind == literal {
				continue
			}
			for _, at := range p.instances() {
				for _, tail := range q.instances() {
					if s.places[at+"/"+tail] = true; len(s.places) > most {
						return
					}
				}
			}
		}
	}
}

// step is the state beneath a name, and a key for it.
func (s *search) step(from []live, name string) (state []live, key string) {
	exact, folded := []byte(name), []byte(foldString(name))
	var k []byte
	for _, l := range from {
		w := &s.walkers[l.walker]
		text := exact
		if w.folded {
			text = folded
		}
		if at := w.step(l.at, text); at != 0 {
			state = append(state, live{l.walker, at})
			k = binary.AppendUvarint(binary.AppendUvarint(k, uint64(l.walker)), at)
		}
	}
	return state, string(k)
}

// step is what may come after a name.
func (w *walker) step(at uint64, name []byte) (next uint64) {
	if at == covered {
		return covered
	}
	for i := range w.segs {
		switch {
		case at&(1<<i) == 0:
		case w.segs[i].kind == anyDepth:
			next |= 1 << i
		case w.segs[i].matches(name):
			next |= 1 << (i + 1)
		}
	}
	return w.skip(next)
}

// skip goes past every "**", which may stand for nothing.
func (w *walker) skip(at uint64) uint64 {
	for i := range w.segs {
		if at&(1<<i) != 0 && w.segs[i].kind == anyDepth {
			at |= 1 << (i + 1)
		}
	}
	if at&(1<<len(w.segs)) != 0 {
		return covered
	}
	return at
}

// namesFor are the names that the patterns of a state tell apart, and one that
// none of them knows.
func (s *search) namesFor(state []live) []string {
	names := map[string]bool{"pf-x": true}
	globs := map[string]*segment{}
	for _, l := range state {
		if l.at == covered {
			continue
		}
		w := &s.walkers[l.walker]
		for i := range w.segs {
			if seg := &w.segs[i]; l.at&(1<<i) != 0 && seg.kind != anyDepth {
				for _, name := range s.instancesOf(seg) {
					names[name] = true
					if w.folded { // a spelling that only rules which ignore case know
						names[strings.ToUpper(name)] = true
					}
				}
				if seg.kind == simple {
					globs[seg.text] = seg
				}
			}
		}
	}
	if len(globs) <= maxPairs {
		for _, p := range globs {
			for _, q := range globs {
				if name := p.prefix + "pf" + q.suffix; p.matches([]byte(name)) && q.matches([]byte(name)) {
					names[name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func (s *search) instancesOf(seg *segment) []string {
	list, ok := s.names[seg.text]
	if !ok {
		list = seg.instances()
		s.names[seg.text] = list
	}
	return list
}
