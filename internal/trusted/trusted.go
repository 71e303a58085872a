// Package trusted knows the files that programs of the host run, or take rights
// from: those that act by themselves, which no write path covers, and those that
// run on a build, a test or a push. It looks at names only.
package trusted

import (
	"slices"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/internal/globs"
)

// File is a kind of file that a program runs, or takes rights from, by
// itself. Whoever may write it decides what the operator's own programs do
// next, so no write path covers it unless Config.Unprotect names it.
type File struct {
	// Glob are the places, relative to the root, with all that lies beneath.
	// It has "**/" only at its beginning, "/**" only at its end, at most one
	// "*" in a name, and alternatives in braces. Letter case is ignored.
	Glob string `json:"glob"`
	// Name stands for this entry and those that belong to it, for Unprotect.
	Name string `json:"name"`
	// But are the names directly beneath a directory that the entry leaves out: they
	// are only read as text.
	But     []string `json:"but,omitempty"`
	Program string   `json:"program"` // who runs or trusts it
	Why     string   `json:"why"`     // what for; Program and Why make a sentence
	Source  string   `json:"source"`  // the documentation that says so: a URL or a manual page

	Dir bool `json:"-"` // its directory is made as a directory only: a file there would name another one
}

// String says what happens with the file: "VS Code runs its tasks".
func (t *File) String() string { return t.Program + " " + t.Why }

// Files returns the table: what is protected besides DefaultProtected.
func Files() []File {
	list := slices.Clone(files)
	for i := range list {
		list[i].But = slices.Clone(list[i].But)
	}
	return list
}

// OutOfTrust is the directory beneath which the table does not apply: packages bring
// such files along, and nobody works there.
const OutOfTrust = "node_modules"

// Set answers which entry of Files covers a place. It never
// changes. A nil set covers nothing.
type Set struct {
	Anywhere, Top *Node // where names at any depth and at the root begin
	hint          hint
	open          []bool // by the table's index: taken away
	any           *File
}

// All is the whole table, compiled once in a process.
var All = sync.OnceValue(func() *Set { return compile(make([]bool, len(files))) })

// New is the table without what unprotect names: entries as they
// stand there, or their names. Other words are ignored: unknown returns them.
func New(unprotect []string) (s *Set, unknown []string) {
	open := make([]bool, len(files))
	for _, word := range unprotect {
		known := false
		for i := range files {
			if t := &files[i]; word == t.Glob || word == t.Name {
				open[i], known = true, true
			}
		}
		if !known {
			unknown = append(unknown, word)
		}
	}
	switch {
	case !slices.Contains(open, true):
		return All(), unknown
	case !slices.Contains(open, false):
		return nil, unknown
	}
	return compile(open), unknown
}

// Names are the names of the table, each once.
func Names() []string {
	var names []string
	for i := range files {
		if n := files[i].Name; !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// Opens are the entries that were taken away.
func (s *Set) Opens() []File {
	var list []File
	for i, t := range Files() {
		if s == nil || s.open[i] {
			list = append(list, t)
		}
	}
	return list
}

// Covers returns the entry that covers a place or one of its ancestors, or nil.
// The most specific name decides.
func (s *Set) Covers(place string) *File {
	if s == nil || s.hint.foreign(place) {
		return nil
	}
	return s.walk(globs.Fold(place)).covered
}

// Node is a directory on the way to names of the table.
type Node struct {
	Next  map[string]*Node
	wild  []wildName
	Entry *File // covers this and everything beneath
	Rest  *File // covers all beneath but what is named
	First *File // of those at or beneath, for messages; nil: nothing here is covered
	dir   *File // why it is made as a directory only; nil: it need not be
}

// wildName is a name with one "*", which ends a glob.
type wildName struct {
	prefix, suffix string
	entry          *File
}

func (w *wildName) matches(name string) bool {
	return len(name) >= len(w.prefix)+len(w.suffix) && strings.HasPrefix(name, w.prefix) && strings.HasSuffix(name, w.suffix)
}

// step is what follows on a folded name.
func (n *Node) step(name string) (next *Node, covered *File) {
	if next = n.Next[name]; next != nil {
		return next, next.Entry
	}
	for i := range n.wild {
		if n.wild[i].matches(name) {
			return nil, n.wild[i].entry
		}
	}
	return nil, n.Rest
}

// state is how far a place has come.
type state struct {
	covered *File
	within  [maxDepth]*Node // directories of the table that the place is
	n       int
	free    bool // names at any depth still count
}

// maxDepth bounds the names of a glob, and so how many directories of the
// table one place can be.
const maxDepth = 4

// walk reads a folded place.
func (s *Set) walk(folded string) (at state) {
	at.free = true
	if folded == "." {
		return at
	}
	for first := true; ; first = false {
		name, rest, more := strings.Cut(folded, "/")
		before := at.within[:at.n]
		var within [maxDepth]*Node
		n := 0
		try := func(from *Node) {
			next, covered := from.step(name)
			if covered != nil && at.covered == nil {
				at.covered = covered
			}
			if next != nil && next.First != nil && n < maxDepth {
				within[n] = next
				n++
			}
		}
		for _, from := range before {
			try(from)
		}
		if at.free {
			try(s.Anywhere)
		}
		if first {
			try(s.Top)
		}
		if at.covered != nil {
			return at
		}
		at.within, at.n = within, n
		at.free = at.free && name != OutOfTrust
		if !more {
			return at
		}
		folded = rest
	}
}

// Escapes returns an entry that could cover something beneath from and would not cover
// it beneath to; nil if there is none. A move into node_modules is no escape: nothing
// there acts, and what comes out again is refused (Released).
func (s *Set) Escapes(from, to string) *File {
	if s == nil || s.hint.foreign(from) {
		return nil
	}
	a, b := s.walk(globs.Fold(from)), s.walk(globs.Fold(to))
	switch {
	case b.covered != nil:
		return nil // with everything beneath
	case a.covered != nil:
		return a.covered
	}
	for _, dir := range a.within[:a.n] {
		if !slices.Contains(b.within[:b.n], dir) {
			return dir.First
		}
	}
	return nil
}

// Released returns an entry that could cover something at to that none covered
// at from, because it comes out of node_modules; nil if there is none.
func (s *Set) Released(from, to string) *File {
	if s == nil || !strings.Contains(globs.Fold(from), OutOfTrust) || s.walk(globs.Fold(from)).free || !s.walk(globs.Fold(to)).free {
		return nil
	}
	return s.any
}

// LeadsTo returns an entry whose directory a place is; nil if it is none.
func (s *Set) LeadsTo(place string) *File {
	if s == nil || s.hint.foreign(place) {
		return nil
	}
	if at := s.walk(globs.Fold(place)); at.n > 0 {
		return at.within[0].First
	}
	return nil
}

// DirOnly returns an entry whose directory a place is, if a file there would name
// another directory; nil if there is none.
func (s *Set) DirOnly(place string) *File {
	if s == nil || s.hint.foreign(place) {
		return nil
	}
	at := s.walk(globs.Fold(place))
	for _, node := range at.within[:at.n] {
		if node.dir != nil {
			return node.dir
		}
	}
	return nil
}

// compile compiles the table without what is open.
func compile(open []bool) *Set {
	s := &Set{Anywhere: &Node{Next: make(map[string]*Node, 2*len(files))}, Top: &Node{}, open: open}
	for i := range files {
		t := &files[i]
		for _, glob := range Braces(t.Glob) {
			s.add(t, glob, open[i])
		}
	}
	return s
}

// add adds one glob without braces. One that is open stays in the tree as a
// name that nothing covers, so that a wider entry does not close it again.
func (s *Set) add(t *File, glob string, open bool) {
	node, at := s.Top, strings.TrimSuffix(glob, "/**")
	if rest, ok := strings.CutPrefix(at, "**/"); ok {
		node, at = s.Anywhere, rest
	}
	segs := strings.Split(globs.Fold(at), "/")
	if len(segs) > maxDepth {
		panic("trusted: bug: too deep: " + t.Glob)
	}
	if !open {
		s.hint.add(segs[0])
		if s.any == nil {
			s.any = t
		}
	}
	for i, seg := range segs {
		last := i == len(segs)-1
		if prefix, suffix, starred := strings.Cut(seg, "*"); starred {
			if !last || len(t.But) > 0 || strings.Contains(suffix, "*") {
				panic("trusted: bug: no such glob: " + t.Glob)
			}
			if !open {
				node.wild = append(node.wild, wildName{prefix, suffix, t})
			}
			return
		}
		next := node.Next[seg]
		if next == nil {
			if node.Next == nil {
				node.Next = map[string]*Node{}
			}
			next = &Node{}
			node.Next[seg] = next
		}
		node = next
		if node.First == nil && !open {
			node.First = t
		}
		if t.Dir && !open && i == len(segs)-2 {
			node.dir = t
		}
	}
	switch {
	case open:
	case len(t.But) > 0:
		node.Rest = t
		for _, name := range t.But {
			if node.Next == nil {
				node.Next = map[string]*Node{}
			}
			node.Next[globs.Fold(name)] = &Node{}
		}
	default:
		node.Entry = t
	}
}

// Braces expands alternatives in braces, which do not nest.
func Braces(glob string) []string {
	open := strings.IndexByte(glob, '{')
	if open < 0 {
		return []string{glob}
	}
	end := open + strings.IndexByte(glob[open:], '}')
	var list []string
	for _, word := range strings.Split(glob[open+1:end], ",") {
		for _, rest := range Braces(glob[end+1:]) {
			list = append(list, glob[:open]+word+rest)
		}
	}
	return list
}

// hint tells most names apart from those that globs of the table begin
// with: by their length, first and last byte, or by what is literal in them.
type hint struct {
	lens   [256]uint64   // of literal names, by their first byte
	tails  [256]uint64   // the same, by their last byte
	begins [256][]string // what names with "*" begin with, by the first byte
	ends   [256][]string // what names that begin with "*" end with, by the last byte
}

func (h *hint) add(seg string) {
	prefix, suffix, starred := strings.Cut(seg, "*")
	switch {
	case !starred:
		bit := uint64(1) << (len(seg) & 63)
		h.lens[seg[0]] |= bit
		h.tails[seg[len(seg)-1]] |= bit
	case prefix != "":
		h.begins[prefix[0]] = append(h.begins[prefix[0]], prefix)
	default:
		last := suffix[len(suffix)-1]
		h.ends[last] = append(h.ends[last], suffix)
	}
}

// foreign reports that no component of a place can be a name that the table
// begins with.
func (h *hint) foreign(place string) bool {
	start := 0
	for i := 0; i <= len(place); i++ {
		if i < len(place) && place[i] != '/' {
			if place[i] >= 0x80 {
				return false // folding may change its length
			}
			continue
		}
		if i > start && h.mayBe(place[start:i]) {
			return false
		}
		start = i + 1
	}
	return true
}

// mayBe looks at one name in ASCII.
func (h *hint) mayBe(name string) bool {
	first, last := lower(name[0]), lower(name[len(name)-1])
	if h.lens[first]&h.tails[last]&(1<<(len(name)&63)) != 0 {
		return true
	}
	for _, p := range h.begins[first] {
		if len(name) >= len(p) && strings.EqualFold(name[:len(p)], p) {
			return true
		}
	}
	for _, e := range h.ends[last] {
		if len(name) >= len(e) && strings.EqualFold(name[len(name)-len(e):], e) {
			return true
		}
	}
	return false
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}
