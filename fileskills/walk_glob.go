package fileskills

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// The bounds on one glob of a caller or of a .gitignore.
const (
	maxGlob       = 4096 // bytes
	maxSegments   = 62   // components, so that its states fit one word
	maxGlobBraces = 64   // globs that one with "/" within braces stands for
	maxNameBraces = 256  // globs that the braces of one component stand for
)

// pathGlob is a glob read as an automaton over path components: state i means
// that the components so far have matched the first i segments. A walk carries
// the states down with it, and so matches each name once, against one segment,
// whatever the depth.
type pathGlob struct{ segs []segment }

// states is a set of states, one bit each.
type states uint64

// newPathGlob reads a doublestar glob over places beneath the directory that a
// search begins at. Braces that hold a "/" stand for several globs.
func newPathGlob(text string) ([]pathGlob, error) {
	switch {
	case text == "" || len(text) > maxGlob:
		return nil, fmt.Errorf("a glob has 1 to %d bytes", maxGlob)
	case !doublestar.ValidatePattern(text):
		return nil, fmt.Errorf("%q is not a valid glob", text)
	}
	texts, err := expandBraces(text, true, maxGlobBraces, nil)
	if err != nil {
		return nil, err
	}
	var globs []pathGlob
	for _, t := range texts {
		var g pathGlob
		for seg := range strings.SplitSeq(t, "/") {
			switch {
			case seg == "" || seg == ".":
				continue
			case seg == "..":
				return nil, fmt.Errorf(`%q climbs by "..": a glob only goes down from path`, text)
			case !doublestar.ValidatePattern(seg):
				return nil, fmt.Errorf(`%q has a "/" within brackets`, text)
			}
			one, err := newSegment(seg)
			if err != nil {
				return nil, err
			}
			g.segs = append(g.segs, one)
		}
		if len(g.segs) == 0 || len(g.segs) > maxSegments {
			return nil, fmt.Errorf("%q: a glob has 1 to %d components", text, maxSegments)
		}
		globs = append(globs, g)
	}
	return globs, nil
}

// newNameGlob is newPathGlob for a filter: a glob without "/" is for names at
// any depth, as in a .gitignore.
func newNameGlob(text string) ([]pathGlob, error) {
	if !strings.Contains(strings.TrimSuffix(text, "/"), "/") {
		text = "**/" + text
	}
	return newPathGlob(text)
}

// expandBraces appends the globs that one stands for, at most that many: by
// all of its braces, or only by those that hold a "/".
func expandBraces(text string, slashed bool, most int, to []string) ([]string, error) {
	open, parts, rest := cutBraces(text, slashed)
	if open < 0 {
		if len(to) == most {
			return nil, fmt.Errorf("the braces of the glob stand for more than %d globs", most)
		}
		return append(to, text), nil
	}
	var err error
	for _, p := range parts {
		if to, err = expandBraces(text[:open]+p+rest, slashed, most, to); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// cutBraces finds the first outermost braces, or the first that hold a "/",
// their alternatives, and what follows.
func cutBraces(text string, slashed bool) (open int, parts []string, rest string) {
	depth, from, slash, class := 0, 0, false, false
	open = -1
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '{':
			if depth++; depth == 1 {
				open, from, parts, slash = i, i+1, nil, false
			}
		case c == '/':
			slash = slash || depth > 0
		case c == ',' && depth == 1:
			parts = append(parts, text[from:i])
			from = i + 1
		case c == '}' && depth > 0:
			if depth--; depth == 0 && (slash || !slashed) {
				return open, append(parts, text[from:i]), text[i+1:]
			}
		}
	}
	return -1, nil, ""
}

// start is where every walk begins.
func (g *pathGlob) start() states { return g.closure(1) }

// step goes down into a directory. No states are left when nothing beneath it
// can match.
func (g *pathGlob) step(s states, name string) states {
	var next states
	for i := range g.segs {
		if s&(1<<i) == 0 {
			continue
		}
		if g.segs[i].kind == anyDirs {
			next |= 1 << i
		} else if g.segs[i].match(name) {
			next |= 1 << (i + 1)
		}
	}
	return g.closure(next) &^ (1 << len(g.segs))
}

// closure adds the states that are reached for nothing: "**" may be empty,
// but for a last one, which stands for something.
func (g *pathGlob) closure(s states) states {
	for i := range len(g.segs) - 1 {
		if s&(1<<i) != 0 && g.segs[i].kind == anyDirs {
			s |= 1 << (i + 1)
		}
	}
	return s
}

// accepts reports whether name, in a directory reached with these states,
// matches the whole glob.
func (g *pathGlob) accepts(s states, name string) bool {
	last := len(g.segs) - 1
	return s&(1<<last) != 0 && g.segs[last].match(name)
}

// segment matches one name. The usual shapes need no glob engine.
type segment struct {
	kind segmentKind
	text string
	any  []segment // of oneOf
}

type segmentKind uint8

const (
	literal segmentKind = iota // name
	anyName                    // *
	anyDirs                    // **
	suffix                     // *.go
	prefix                     // test_*
	general                    // what has no braces
	oneOf                      // {a,b}
)

// newSegment reads one component of a valid glob. The engine never sees braces:
// it tries their alternatives one within the other, which takes a time that is
// exponential in their number.
func newSegment(glob string) (segment, error) {
	texts, err := expandBraces(glob, false, maxNameBraces, nil)
	if err != nil {
		return segment{}, err
	}
	if len(texts) == 1 {
		return plainSegment(texts[0]), nil
	}
	s := segment{kind: oneOf}
	for _, t := range texts {
		s.any = append(s.any, plainSegment(t))
	}
	return s, nil
}

// plainSegment reads a component without braces.
func plainSegment(glob string) segment {
	const special = `*?[]{}\`
	switch {
	case glob == "**":
		return segment{kind: anyDirs}
	case glob == "*":
		return segment{kind: anyName}
	case !strings.ContainsAny(glob, special):
		return segment{kind: literal, text: glob}
	case glob[0] == '*' && !strings.ContainsAny(glob[1:], special):
		return segment{kind: suffix, text: glob[1:]}
	case glob[len(glob)-1] == '*' && !strings.ContainsAny(glob[:len(glob)-1], special):
		return segment{kind: prefix, text: glob[:len(glob)-1]}
	}
	return segment{kind: general, text: glob}
}

func (s *segment) match(name string) bool {
	switch s.kind {
	case literal:
		return name == s.text
	case anyName, anyDirs:
		return true
	case suffix:
		return strings.HasSuffix(name, s.text)
	case prefix:
		return strings.HasPrefix(name, s.text)
	case oneOf:
		return slices.ContainsFunc(s.any, func(a segment) bool { return a.match(name) })
	}
	return doublestar.MatchUnvalidated(s.text, name)
}

// globSet is several globs on one walk: a name matches when one of them does.
type globSet []pathGlob

// start are the states of all, in order.
func (gs globSet) start() []states {
	at := make([]states, len(gs))
	for i := range gs {
		at[i] = gs[i].start()
	}
	return at
}

// step goes down with all. alive says whether anything can match beneath.
func (gs globSet) step(at []states, name string) (next []states, alive bool) {
	if len(gs) == 0 {
		return nil, false
	}
	next = at // shared while nothing changes, which is the rule below "**"
	for i := range gs {
		s := gs[i].step(at[i], name)
		alive = alive || s != 0
		if s != next[i] {
			if &next[0] == &at[0] {
				next = append([]states(nil), at...)
			}
			next[i] = s
		}
	}
	return next, alive
}

func (gs globSet) accepts(at []states, name string) bool {
	for i := range gs {
		if gs[i].accepts(at[i], name) {
			return true
		}
	}
	return false
}
