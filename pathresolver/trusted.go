package pathresolver

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

// TrustedFile is a kind of file that a program runs, or takes rights from, by
// itself. Whoever may write it decides what the operator's own programs do
// next, so no write path covers it unless Config.Unprotect names it.
type TrustedFile struct {
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

	dir bool // its directory is made as a directory only: a file there would name another one
}

// String says what happens with the file: "VS Code runs its tasks".
func (t *TrustedFile) String() string { return t.Program + " " + t.Why }

// TrustedFiles returns the table: what is protected besides DefaultProtected.
func TrustedFiles() []TrustedFile {
	list := slices.Clone(trustedFiles)
	for i := range list {
		list[i].But = slices.Clone(list[i].But)
	}
	return list
}

// outOfTrust is the directory beneath which the table does not apply: packages bring
// such files along, and nobody works there.
const outOfTrust = "node_modules"

// TrustedSet answers which entry of TrustedFiles covers a place. It never
// changes. A nil set covers nothing.
type TrustedSet struct {
	anywhere, top *trustNode // where names at any depth and at the root begin
	hint          trustHint
	open          []bool // by the table's index: taken away
	any           *TrustedFile
}

// allTrusted is the whole table, compiled once in a process.
var allTrusted = sync.OnceValue(func() *TrustedSet { return newTrustedSet(make([]bool, len(trustedFiles))) })

// NewTrustedSet is the table without what unprotect names: entries as they
// stand there, or their names. Other words are ignored: unknown returns them.
func NewTrustedSet(unprotect []string) (s *TrustedSet, unknown []string) {
	open := make([]bool, len(trustedFiles))
	for _, word := range unprotect {
		known := false
		for i := range trustedFiles {
			if t := &trustedFiles[i]; word == t.Glob || word == t.Name {
				open[i], known = true, true
			}
		}
		if !known {
			unknown = append(unknown, word)
		}
	}
	switch {
	case !slices.Contains(open, true):
		return allTrusted(), unknown
	case !slices.Contains(open, false):
		return nil, unknown
	}
	return newTrustedSet(open), unknown
}

// trustedNames are the names of the table, each once.
func trustedNames() []string {
	var names []string
	for i := range trustedFiles {
		if n := trustedFiles[i].Name; !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// Opens are the entries that were taken away.
func (s *TrustedSet) Opens() []TrustedFile {
	var list []TrustedFile
	for i, t := range TrustedFiles() {
		if s == nil || s.open[i] {
			list = append(list, t)
		}
	}
	return list
}

// Covers returns the entry that covers a place or one of its ancestors, or nil.
// The most specific name decides.
func (s *TrustedSet) Covers(place string) *TrustedFile {
	if s == nil || s.hint.foreign(place) {
		return nil
	}
	return s.walk(fold(place)).covered
}

// trustNode is a directory on the way to names of the table.
type trustNode struct {
	next  map[string]*trustNode
	wild  []trustWild
	entry *TrustedFile // covers this and everything beneath
	rest  *TrustedFile // covers all beneath but what is named
	first *TrustedFile // of those at or beneath, for messages; nil: nothing here is covered
	dir   *TrustedFile // why it is made as a directory only; nil: it need not be
}

// trustWild is a name with one "*", which ends a glob.
type trustWild struct {
	prefix, suffix string
	entry          *TrustedFile
}

func (w *trustWild) matches(name string) bool {
	return len(name) >= len(w.prefix)+len(w.suffix) && strings.HasPrefix(name, w.prefix) && strings.HasSuffix(name, w.suffix)
}

// step is what follows on a folded name.
func (n *trustNode) step(name string) (next *trustNode, covered *TrustedFile) {
	if next = n.next[name]; next != nil {
		return next, next.entry
	}
	for i := range n.wild {
		if n.wild[i].matches(name) {
			return nil, n.wild[i].entry
		}
	}
	return nil, n.rest
}

// trustState is how far a place has come.
type trustState struct {
	covered *TrustedFile
	within  [maxTrustDepth]*trustNode // directories of the table that the place is
	n       int
	free    bool // names at any depth still count
}

// maxTrustDepth bounds the names of a glob, and so how many directories of the
// table one place can be.
const maxTrustDepth = 4

// walk reads a folded place.
func (s *TrustedSet) walk(folded string) (at trustState) {
	at.free = true
	if folded == "." {
		return at
	}
	for first := true; ; first = false {
		name, rest, more := strings.Cut(folded, "/")
		before := at.within[:at.n]
		var within [maxTrustDepth]*trustNode
		n := 0
		try := func(from *trustNode) {
			next, covered := from.step(name)
			if covered != nil && at.covered == nil {
				at.covered = covered
			}
			if next != nil && next.first != nil && n < maxTrustDepth {
				within[n] = next
				n++
			}
		}
		for _, from := range before {
			try(from)
		}
		if at.free {
			try(s.anywhere)
		}
		if first {
			try(s.top)
		}
		if at.covered != nil {
			return at
		}
		at.within, at.n = within, n
		at.free = at.free && name != outOfTrust
		if !more {
			return at
		}
		folded = rest
	}
}

// escapes returns an entry that could cover something beneath from and would not cover
// it beneath to; nil if there is none. A move into node_modules is no escape: nothing
// there acts, and what comes out again is refused (released).
func (s *TrustedSet) escapes(from, to string) *TrustedFile {
	if s == nil || s.hint.foreign(from) {
		return nil
	}
	a, b := s.walk(fold(from)), s.walk(fold(to))
	switch {
	case b.covered != nil:
		return nil // with everything beneath
	case a.covered != nil:
		return a.covered
	}
	for _, dir := range a.within[:a.n] {
		if !slices.Contains(b.within[:b.n], dir) {
			return dir.first
		}
	}
	return nil
}

// released returns an entry that could cover something at to that none covered
// at from, because it comes out of node_modules; nil if there is none.
func (s *TrustedSet) released(from, to string) *TrustedFile {
	if s == nil || !strings.Contains(fold(from), outOfTrust) || s.walk(fold(from)).free || !s.walk(fold(to)).free {
		return nil
	}
	return s.any
}

// leadsTo returns an entry whose directory a place is; nil if it is none.
func (s *TrustedSet) leadsTo(place string) *TrustedFile {
	if s == nil || s.hint.foreign(place) {
		return nil
	}
	if at := s.walk(fold(place)); at.n > 0 {
		return at.within[0].first
	}
	return nil
}

// names returns an entry whose directory a place is, if a file there would name
// another directory; nil if there is none.
func (s *TrustedSet) names(place string) *TrustedFile {
	if s == nil || s.hint.foreign(place) {
		return nil
	}
	at := s.walk(fold(place))
	for _, node := range at.within[:at.n] {
		if node.dir != nil {
			return node.dir
		}
	}
	return nil
}

// decideTrusted keeps a directory of the table from becoming a link, or a file that
// works like one: what it leads to has a name that is not protected.
func (p *policy) decideTrusted(op Op, place string, kind fs.FileMode) *DeniedError {
	var t *TrustedFile
	what := "a link"
	switch kind.Type() {
	case fs.ModeDir:
	case fs.ModeSymlink:
		t = p.trusted.leadsTo(place)
	default:
		t, what = p.trusted.names(place), "a file"
	}
	if t == nil {
		return nil
	}
	return p.denied(op, place, RuleProtected, "it may be made as a directory, not as "+what+": "+p.opening(t)).by(t.Glob, p.origins.Entries["protect"])
}

// decideTrustedMove refuses what would take something out of the table's reach,
// or put something under a name of it.
func (p *policy) decideTrustedMove(from, to string) *DeniedError {
	refuse := func(place, what string, t *TrustedFile) *DeniedError {
		return p.denied(OpRename, place, RuleEscapes, what+"; copying is possible. "+p.opening(t)).by(t.Glob, p.origins.Entries["protect"])
	}
	if t := p.trusted.escapes(from, to); t != nil {
		return refuse(from, "moving it could take what is protected in it to another name", t)
	}
	if t := p.trusted.escapes(to, from); t != nil {
		return refuse(to, "moving it here could put what it holds under a protected name", t)
	}
	if t := p.trusted.released(from, to); t != nil {
		return p.denied(OpRename, from, RuleEscapes, "what lies beneath "+outOfTrust+" is not moved out of it, since it may hold files that programs run by themselves; copying is possible").
			by(t.Glob, p.origins.Entries["protect"])
	}
	return nil
}

// opening says why an entry is protected, and how it is opened.
func (p *policy) opening(t *TrustedFile) string {
	if p.origins.Entries["protect"] != "" { // a policy, which flags do not widen
		return fmt.Sprintf("%s; 'unprotect' in the policy's fs opens '%s'", t, t.Glob)
	}
	return fmt.Sprintf("%s; --unprotect '%s' opens it", t, t.Glob)
}

// newTrustedSet compiles the table without what is open.
func newTrustedSet(open []bool) *TrustedSet {
	s := &TrustedSet{anywhere: &trustNode{next: make(map[string]*trustNode, 2*len(trustedFiles))}, top: &trustNode{}, open: open}
	for i := range trustedFiles {
		t := &trustedFiles[i]
		for _, glob := range trustBraces(t.Glob) {
			s.add(t, glob, open[i])
		}
	}
	return s
}

// add adds one glob without braces. One that is open stays in the tree as a
// name that nothing covers, so that a wider entry does not close it again.
func (s *TrustedSet) add(t *TrustedFile, glob string, open bool) {
	node, at := s.top, strings.TrimSuffix(glob, "/**")
	if rest, ok := strings.CutPrefix(at, "**/"); ok {
		node, at = s.anywhere, rest
	}
	segs := strings.Split(fold(at), "/")
	if len(segs) > maxTrustDepth {
		panic("pathresolver: bug: too deep: " + t.Glob)
	}
	if !open {
		s.hint.add(segs[0])
		if s.any == nil {
			s.any = t
		}
	}
	for i, seg := range segs {
		last := i == len(segs)-1
		if prefix, suffix, wild := strings.Cut(seg, "*"); wild {
			if !last || len(t.But) > 0 || strings.Contains(suffix, "*") {
				panic("pathresolver: bug: no such glob: " + t.Glob)
			}
			if !open {
				node.wild = append(node.wild, trustWild{prefix, suffix, t})
			}
			return
		}
		next := node.next[seg]
		if next == nil {
			if node.next == nil {
				node.next = map[string]*trustNode{}
			}
			next = &trustNode{}
			node.next[seg] = next
		}
		node = next
		if node.first == nil && !open {
			node.first = t
		}
		if t.dir && !open && i == len(segs)-2 {
			node.dir = t
		}
	}
	switch {
	case open:
	case len(t.But) > 0:
		node.rest = t
		for _, name := range t.But {
			if node.next == nil {
				node.next = map[string]*trustNode{}
			}
			node.next[fold(name)] = &trustNode{}
		}
	default:
		node.entry = t
	}
}

// trustBraces expands alternatives in braces, which do not nest.
func trustBraces(glob string) []string {
	open := strings.IndexByte(glob, '{')
	if open < 0 {
		return []string{glob}
	}
	end := open + strings.IndexByte(glob[open:], '}')
	var list []string
	for _, word := range strings.Split(glob[open+1:end], ",") {
		for _, rest := range trustBraces(glob[end+1:]) {
			list = append(list, glob[:open]+word+rest)
		}
	}
	return list
}

// trustHint tells most names apart from those that globs of the table begin
// with: by their length and first byte, or by what is literal in them.
type trustHint struct {
	lens   [256]uint64   // of literal names, by their first byte
	begins [256][]string // what names with "*" begin with, by the first byte
	ends   [256][]string // what names that begin with "*" end with, by the last byte
}

func (h *trustHint) add(seg string) {
	prefix, suffix, wild := strings.Cut(seg, "*")
	switch {
	case !wild:
		h.lens[seg[0]] |= 1 << (len(seg) & 63)
	case prefix != "":
		h.begins[prefix[0]] = append(h.begins[prefix[0]], prefix)
	default:
		last := suffix[len(suffix)-1]
		h.ends[last] = append(h.ends[last], suffix)
	}
}

// foreign reports that no component of a place can be a name that the table
// begins with.
func (h *trustHint) foreign(place string) bool {
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
func (h *trustHint) mayBe(name string) bool {
	first, last := lower(name[0]), lower(name[len(name)-1])
	if h.lens[first]&(1<<(len(name)&63)) != 0 {
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
