package learned

import (
	"path"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
)

// WritePath is a place that has to be open, and an example of why.
type WritePath struct {
	Place   string
	Example Change
	Count   int // of changes beneath it
}

// mostSiblings is how many files of one directory are named one by one. A program that
// makes more of them gives them names that the next run may not.
const mostSiblings = 20

// WritePaths are the fewest and narrowest places by which all of s would have been let
// through; "." is the whole project. existed says what stood there before the run. A name
// that can be said is one that sayable accepts; of others the directory is taken.
//
// A write path that is a file or directory of its own can be written and made, but not
// removed or renamed, since it is a mount. Both names of a rename need a common one. A
// name that was gone at the end is another one in the next run, so its directory counts.
func WritePaths(s Seen, existed, sayable func(place string) bool) []WritePath {
	l := list{seen: s, existed: existed, need: map[string]WritePath{}}
	if s.Full {
		l.add(".", Change{Op: access.OpWrite, Place: "."})
	}
	for _, c := range s.Changes {
		switch {
		case c.To != "":
			l.add(l.both(c.Place, c.To), c)
		case c.Op == access.OpCreate:
			l.add(l.made(c.Place), c)
		case c.Op == access.OpDelete:
			l.add(path.Dir(c.Place), c)
		default:
			l.add(l.changed(c.Place), c)
		}
	}
	for place := range l.need {
		if at := place; !sayable(at) {
			for at != "." && !sayable(at) {
				at = path.Dir(at)
			}
			l.replace(place, at)
		}
	}
	l.fold()
	return l.narrowest()
}

type list struct {
	seen    Seen
	existed func(place string) bool
	need    map[string]WritePath
}

func (l *list) add(place string, c Change) {
	n, ok := l.need[place]
	if !ok {
		n = WritePath{Place: place, Example: c}
	}
	n.Count++
	l.need[place] = n
}

func (l *list) replace(place, by string) {
	n := l.need[place]
	delete(l.need, place)
	if have, ok := l.need[by]; ok {
		have.Count += n.Count
		l.need[by] = have
		return
	}
	n.Place = by
	l.need[by] = n
}

// top is the first directory or file on the way to place that the run has made; "" where
// place stood there before.
func (l *list) top(place string) string {
	if l.existed(place) {
		return ""
	}
	for dir := path.Dir(place); dir != "." && !l.existed(dir); dir = path.Dir(dir) {
		place = dir
	}
	return place
}

// made is what has to be open for a name that was made.
func (l *list) made(place string) string {
	switch top := l.top(place); {
	case top == "": // it was removed before
		return path.Dir(place)
	case l.seen.There[top]:
		return top
	default:
		return path.Dir(top)
	}
}

// changed is what has to be open for a file whose content or mode was changed.
func (l *list) changed(place string) string {
	if l.existed(place) {
		return place
	}
	return l.made(place)
}

// both is what has to be open for two names of one file.
func (l *list) both(from, to string) string {
	if a, b := l.top(from), l.top(to); a != "" && a == b && a != from && l.seen.There[a] {
		return a
	}
	dir := path.Dir(from)
	for !beneath(to, dir) || dir == to || !l.existed(dir) && dir != "." {
		dir = path.Dir(dir)
	}
	return dir
}

// fold takes a directory for many files of it.
func (l *list) fold() {
	count := map[string]int{}
	for place := range l.need {
		count[path.Dir(place)]++
	}
	for place := range l.need {
		if dir := path.Dir(place); place != "." && count[dir] > mostSiblings {
			l.replace(place, dir)
		}
	}
}

// narrowest leaves out what lies beneath another one.
func (l *list) narrowest() (all []WritePath) {
	places := make([]string, 0, len(l.need))
	for place := range l.need {
		places = append(places, place)
	}
	slices.Sort(places)
	for _, place := range places {
		if at := slices.IndexFunc(all, func(w WritePath) bool { return beneath(place, w.Place) }); at >= 0 {
			all[at].Count += l.need[place].Count
			continue
		}
		all = append(all, l.need[place])
	}
	return all
}

// beneath reports whether place is dir or lies beneath it.
func beneath(place, dir string) bool {
	return dir == "." || place == dir || strings.HasPrefix(place, dir+"/")
}
