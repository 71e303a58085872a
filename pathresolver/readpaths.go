package pathresolver

import "slices"

// readPaths bound what exists for the caller. The zero value is no bound.
type readPaths struct {
	paths   []string        // as places, collapsed, sorted; nil: everything
	at      map[string]bool // the same, for look-up
	leading map[string]bool // the directories that lead to them
}

// newReadPaths collapses places that lie beneath one another. No places at all
// are no bound.
func newReadPaths(places []string) readPaths {
	r := readPaths{at: map[string]bool{}, leading: map[string]bool{}}
	for _, p := range places {
		if !slices.ContainsFunc(places, func(q string) bool { return q != p && within(p, q) }) && !r.at[p] {
			r.at[p] = true
			r.paths = append(r.paths, p)
		}
	}
	if len(r.paths) == 0 || r.at["."] {
		return readPaths{}
	}
	slices.Sort(r.paths)
	for _, p := range r.paths {
		for at, name := splitPlace(p); name != ""; at, name = splitPlace(at) {
			r.leading[at] = true
		}
	}
	return r
}

func (r *readPaths) limited() bool { return r.paths != nil }

// hides reports whether place does not exist for the caller, and otherwise
// whether it is only on the way to what does. Letter case counts: only what is
// named is allowed.
func (r *readPaths) hides(place string) (hidden, traverseOnly bool) {
	if !r.limited() {
		return false, false
	}
	for at := place; ; {
		if r.at[at] {
			return false, false
		}
		parent, name := splitPlace(at)
		if name == "" {
			break
		}
		at = parent
	}
	return !r.leading[place], r.leading[place]
}
