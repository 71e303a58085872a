package pathresolver

import "strings"

// Which globs of a set a move concerns, or a directory that might hold what
// they match. The answers are those of a scan of all (states.go): the first
// glob with the states that count.

// mayMatchBeneath returns the first glob that could match something beneath
// place, now or later, or nil.
func (s *ruleSet) mayMatchBeneath(place string) *glob {
	if s.empty() || place != "." && s.foreign(place) {
		return nil
	}
	if place == "." {
		return &s.all[0]
	}
	folded := fold(place)
	found := earlier(s.below[folded], s.floating)
	s.eachCovering(folded, func(g *glob) { found = earlier(found, g) })
	for end := 0; ; end = componentEnd(folded, end) {
		if b := s.rest.head(folded[:end]); b != nil {
			found = earlier(found, b.deep.first)
			if end == len(folded) {
				found = earlier(found, b.next.first)
			}
		}
		if end == len(folded) {
			break
		}
	}
	s.rest.each(folded, func(g *glob) {
		if g.states(folded) != 0 {
			found = earlier(found, g)
		}
	})
	return found
}

// escapes returns the first glob that could match something beneath from and
// would not match the same thing beneath to, or nil: moving a directory from
// one to the other could take its content out of the glob's reach.
func (s *ruleSet) escapes(from, to string) *glob {
	if s.empty() || from != "." && s.foreign(from) {
		return nil // it has no states there
	}
	from, to = fold(from), fold(to)
	switch {
	case from == to:
		return nil
	case from == "." || to == ".":
		return s.scanEscapes(from, to)
	}
	found := s.below[from] // only from itself leads to what these begin with
	try := func(g *glob) {
		if (found == nil || g.nth < found.nth) && g.states(from)&^g.states(to) != 0 {
			found = g
		}
	}
	s.eachCovering(from, try)
	for end := componentEnd(from, 0); ; end = componentEnd(from, end) {
		if b := s.rest.head(from[:end]); b != nil {
			if !within(to, from[:end]) {
				found = earlier(found, b.deep.first)
			}
			if end == len(from) {
				found = earlier(found, b.next.first)
			}
		}
		if end == len(from) {
			break
		}
	}
	s.rest.each(from, try)
	return found
}

// scanEscapes is escapes, one glob after the other.
func (s *ruleSet) scanEscapes(from, to string) *glob {
	for i := range s.all {
		if g := &s.all[i]; g.states(from)&^g.states(to) != 0 {
			return g
		}
	}
	return nil
}

// eachCovering gives the globs of the maps that cover a folded place.
func (s *ruleSet) eachCovering(folded string, try func(*glob)) {
	for end := componentEnd(folded, 0); ; end = componentEnd(folded, end) {
		at := folded[:end]
		if g := s.places[at]; g != nil {
			try(g)
		}
		name := at[strings.LastIndexByte(at, '/')+1:]
		if g := s.names[name]; g != nil {
			try(g)
		}
		for i := 0; i < len(name) && len(s.suffixes) > 0; i++ {
			if name[i] == '.' {
				if g := s.suffixes[name[i:]]; g != nil {
					try(g)
				}
			}
		}
		if end == len(folded) {
			return
		}
	}
}
