package learned

import (
	"path"
	"slices"
	"sync"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// What the process inherits that runs the command: where it tells a Seen, as gob, and the
// upper layer of the overlay that stands at the project's path.
const (
	To    = 3
	Layer = 4
)

// MaxChanges bounds a Record: beyond it a run's changes are no longer told apart.
// MaxRefused is how many refusals it keeps.
const (
	MaxChanges = 200_000
	MaxRefused = 20
)

// Change is something that a run did to a name of the project.
type Change struct {
	Op    access.Op // OpCreate, OpWrite, OpMeta, OpRename, OpLink, or OpDelete of what stood there before
	Place string
	To    string // the new name, of OpRename and OpLink
}

// Seen is what is known of a run. Its strings are places beneath the project, and may
// hold any byte.
type Seen struct {
	Ran     bool // the command was started
	Changes []Change
	There   map[string]bool // of the names that were made: those that were there at the end
	Full    bool            // there were more than MaxChanges
	Refused []Refused       // the first MaxRefused, each once
}

// Refused is something that was refused.
type Refused struct {
	Op    access.Op
	Place string
	Rule  access.Code
}

// Record keeps each kind of change of each name once. It may be used by many goroutines.
type Record struct {
	mu   sync.Mutex
	seen map[Change]bool
	list []Change
	full bool

	refused []Refused
}

// NewRecord returns an empty Record.
func NewRecord() *Record { return &Record{seen: map[Change]bool{}} }

// Changed is for sandboxfs.Options.OnChange.
func (r *Record) Changed(c sandboxfs.Change) {
	if c.Op == access.OpLink && c.Place == "" { // a file that had no name yet (O_TMPFILE)
		c.Op, c.Place, c.To = access.OpCreate, c.To, ""
	}
	r.Add(Change{Op: c.Op, Place: c.Place, To: c.To})
}

// Add puts down one change.
func (r *Record) Add(c Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.seen[c]:
	case len(r.list) == MaxChanges:
		r.full = true
	default:
		r.seen[c] = true
		r.list = append(r.list, c)
	}
}

// Refused is for sandboxfs.Options.OnRefusal.
func (r *Record) Refused(what sandboxfs.Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := Refused{Op: what.Op, Place: what.Place, Rule: what.Rule}
	if len(r.refused) < MaxRefused && !slices.Contains(r.refused, one) {
		r.refused = append(r.refused, one)
	}
}

// Seen is what was put down. exists says whether a place is there now; it is asked about
// each name that was made, and about the directories above.
func (r *Record) Seen(exists func(place string) bool) Seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Seen{Changes: r.list, Full: r.full, Refused: r.refused, There: map[string]bool{}}
	look := func(place string) {
		for ; place != "."; place = path.Dir(place) {
			if _, known := s.There[place]; known {
				return
			}
			s.There[place] = exists(place)
		}
	}
	for _, c := range r.list {
		if c.Op == access.OpCreate || c.To != "" {
			look(c.Place)
		}
		if c.To != "" {
			look(c.To)
		}
	}
	return s
}
