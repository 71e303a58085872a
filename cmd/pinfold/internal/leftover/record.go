package leftover

import (
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/trusted"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// maxEntries bounds a Record: names that are kept, and directories above them.
const maxEntries = 1 << 15

// Record keeps the places of one view at which something may have been left. It
// may be used by many goroutines.
//
// A removal is not told to it. When it is full it looks which of its places are
// gone, so that files that come and go cost no room in the end.
type Record struct {
	trusted *trusted.Set
	exists  func(place string) bool

	mu      sync.Mutex
	top     entry
	size    int // entries
	most    int
	index   bool   // an index of git's was replaced
	dropped uint64 // places that there was no room for
	waits   int    // how many more are dropped before it looks again what is gone
}

// entry is a name in a directory. One without notes leads to others.
type entry struct {
	notes note
	below map[string]*entry
}

// NewRecord makes a record. exists says whether a place is there; it is called
// while a change waits, at most once for every other place that is told.
func NewRecord(exists func(place string) bool) *Record {
	return &Record{trusted: trusted.All(), exists: exists, most: maxEntries}
}

// Changed notes what happened in the view. It is for sandboxfs.Options.OnChange.
func (r *Record) Changed(c sandboxfs.Change) {
	at := c.Place
	if c.To != "" {
		at = c.To
	}
	notes, dir := r.judge(c.Op, at, c.Mode)
	if notes == 0 && c.Op != access.OpRename {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Op == access.OpRename {
		r.index = r.index || baseOf(c.To) == "index"
		r.move(c.Place, c.To, c.Exchange)
	}
	if notes != 0 {
		r.note(dir, notes)
	}
}

// IndexReplaced reports whether an index of git's got its name.
func (r *Record) IndexReplaced() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.index
}

// Dropped is how many changes, at most, could not be remembered.
func (r *Record) Dropped() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dropped
}

// note adds notes to a place.
func (r *Record) note(place string, notes note) {
	if missing := r.missing(place); missing > 0 && !r.room(missing) {
		r.dropped++
		return
	}
	r.grow(place).notes |= notes
}

// missing is how many entries a place lacks.
func (r *Record) missing(place string) int {
	e := &r.top
	for rest := place; rest != "" && rest != "."; {
		name, below, _ := strings.Cut(rest, "/")
		next := e.below[name]
		if next == nil {
			return 1 + strings.Count(rest, "/")
		}
		e, rest = next, below
	}
	return 0
}

// grow is the entry of a place, which it makes with those above it.
func (r *Record) grow(place string) *entry {
	e := &r.top
	for rest := place; rest != "" && rest != "."; {
		name, below, _ := strings.Cut(rest, "/")
		next := e.below[name]
		if next == nil {
			next = &entry{}
			if e.below == nil {
				e.below = map[string]*entry{}
			}
			e.below[name] = next
			r.size++
		}
		e, rest = next, below
	}
	return e
}

// room reports whether so many entries more can be kept.
func (r *Record) room(more int) bool {
	if r.size+more <= r.most {
		return true
	}
	if r.waits > 0 {
		r.waits--
		return false
	}
	r.size = 0
	r.sweep(&r.top, "")
	// Each look costs as much as it finds, so it has to find much, or is rare.
	if r.size > r.most/2 {
		r.waits = r.most
	}
	return r.size+more <= r.most
}

// sweep leaves out what is not there any more, and counts the rest.
func (r *Record) sweep(e *entry, place string) {
	for name, next := range e.below {
		at := name
		if place != "" {
			at = place + "/" + name
		}
		if !r.exists(at) {
			delete(e.below, name)
			continue
		}
		r.size++
		r.sweep(next, at)
		if next.notes == 0 && len(next.below) == 0 {
			delete(e.below, name)
			r.size--
		}
	}
}

// move moves what is noted at a place, and beneath it, to another. What was there
// is gone, or at the first place in an exchange.
func (r *Record) move(from, to string, exchange bool) {
	moved, replaced := r.cut(from), r.cut(to)
	r.put(to, moved)
	if exchange {
		r.put(from, replaced)
	}
}

// cut takes an entry out, with all beneath it; nil where there is none.
func (r *Record) cut(place string) *entry {
	dir, name := r.parent(place)
	if dir == nil {
		return nil
	}
	e := dir.below[name]
	if e != nil {
		delete(dir.below, name)
		r.size -= e.count()
	}
	return e
}

// put is the reverse of cut.
func (r *Record) put(place string, e *entry) {
	if e == nil {
		return
	}
	// Nothing new is kept but directories above it, so there is room.
	*r.grow(place) = *e
	r.size += e.count() - 1
}

// parent is the directory of a place, nil where nothing is noted beneath it.
func (r *Record) parent(place string) (dir *entry, name string) {
	dir = &r.top
	for {
		first, rest, more := strings.Cut(place, "/")
		if !more {
			return dir, first
		}
		if dir = dir.below[first]; dir == nil {
			return nil, ""
		}
		place = rest
	}
}

// count is how many entries these are.
func (e *entry) count() int {
	n := 1
	for _, next := range e.below {
		n += next.count()
	}
	return n
}

// each calls do for every place that has notes.
func (r *Record) each(do func(place string, notes note)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.top.each(".", do)
}

func (e *entry) each(place string, do func(place string, notes note)) {
	if e.notes != 0 {
		do(place, e.notes)
	}
	for name, next := range e.below {
		at := name
		if place != "." {
			at = place + "/" + name
		}
		next.each(at, do)
	}
}
