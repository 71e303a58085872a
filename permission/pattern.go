package permission

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// pattern is one path or glob over places. It covers what it matches and
// everything beneath. Its components are read one by one; "**" is any number
// of them.
type pattern struct {
	segs []segment // none: everything, the root itself included
}

// segment is one component of a pattern.
type segment struct {
	text           string
	kind           segKind
	prefix, suffix string // of a simple glob: prefix*suffix
}

type segKind uint8

const (
	literal  segKind = iota // itself
	simple                  // one "*" among plain characters
	complex                 // anything else that doublestar reads
	anyDepth                // "**"
)

// parsePattern reads a path or glob relative to the root. folded patterns
// ignore letter case.
func parsePattern(text string, folded bool) (pattern, error) {
	p := strings.TrimSuffix(strings.TrimPrefix(text, "./"), "/")
	switch {
	case text == "":
		return pattern{}, errors.New("is empty")
	case strings.IndexByte(p, 0) >= 0:
		return pattern{}, errors.New("holds a NUL byte")
	case len(text) > maxPath:
		return pattern{}, fmt.Errorf("is longer than %d bytes", maxPath)
	case strings.HasPrefix(text, "/"):
		return pattern{}, errors.New("is absolute: paths are relative to the project's root")
	case (p == "." || p == "") && !folded:
		return pattern{}, nil
	case p == "." || p == "":
		p = "**"
	}
	if !doublestar.ValidatePattern(p) {
		return pattern{}, errors.New("is not a valid glob")
	}
	if folded {
		p = foldString(p)
	}
	var segs []segment
	for s := range strings.SplitSeq(p, "/") {
		seg, err := parseSegment(s)
		if err != nil {
			return pattern{}, err
		}
		if seg.kind == anyDepth && len(segs) > 0 && segs[len(segs)-1].kind == anyDepth {
			continue
		}
		segs = append(segs, seg)
	}
	// What a pattern matches it covers with all that is beneath: "x/**" is "x".
	if n := len(segs); segs[n-1].kind == anyDepth {
		if segs = segs[:n-1]; n == 1 && folded {
			segs = []segment{{text: "*", kind: simple}} // a rule that takes away leaves the root itself
		}
	}
	if len(segs) > maxSegments {
		return pattern{}, fmt.Errorf("has more than %d components", maxSegments)
	}
	return pattern{segs: segs}, nil
}

func parseSegment(s string) (segment, error) {
	switch {
	case s == ".." || s == "." || s == "":
		return segment{}, fmt.Errorf("has a component %q", s)
	case s == "**":
		return segment{text: s, kind: anyDepth}, nil
	case strings.Contains(s, "**"):
		return segment{}, errors.New(`has "**" beside other characters in one component`)
	case !doublestar.ValidatePattern(s):
		return segment{}, errors.New(`has a "/" inside braces or brackets: write one glob for each`)
	case !strings.ContainsAny(s, `*?[{\`):
		return segment{text: s}, nil
	}
	if before, after, _ := strings.Cut(s, "*"); !strings.ContainsAny(before+after, `*?[{\`) {
		return segment{text: s, kind: simple, prefix: before, suffix: after}, nil
	}
	return segment{text: s, kind: complex}, nil
}

// matches reports whether one name matches the segment.
func (s *segment) matches(name []byte) bool {
	switch s.kind {
	case literal:
		return string(name) == s.text
	case simple:
		return len(name) >= len(s.prefix)+len(s.suffix) &&
			string(name[:len(s.prefix)]) == s.prefix && string(name[len(name)-len(s.suffix):]) == s.suffix
	case complex:
		ok, err := doublestar.Match(s.text, string(name))
		return ok && err == nil
	}
	return true
}

// covers reports whether segs match the place, or one of the directories that
// hold it. Between two "**" the earliest match is as good as any, since all
// that follows it is covered: so there is no backtracking.
func covers(segs []segment, place []byte) bool {
	floating := false
	for len(segs) > 0 {
		if segs[0].kind == anyDepth {
			floating, segs = true, segs[1:]
			continue
		}
		block := segs[:blockLen(segs)]
		rest, ok := matchBlock(block, place)
		for !ok && floating {
			cut := bytes.IndexByte(place, '/')
			if cut < 0 {
				return false
			}
			place = place[cut+1:]
			rest, ok = matchBlock(block, place)
		}
		if !ok {
			return false
		}
		place, segs, floating = rest, segs[len(block):], false
	}
	return true
}

// matchBlock matches segments without "**" at the start of place and returns
// what is left of it.
func matchBlock(block []segment, place []byte) (rest []byte, ok bool) {
	for i := range block {
		if len(place) == 0 {
			return nil, false
		}
		name := place
		if cut := bytes.IndexByte(place, '/'); cut >= 0 {
			name, place = place[:cut], place[cut+1:]
		} else {
			place = nil
		}
		if !block[i].matches(name) {
			return nil, false
		}
	}
	return place, true
}

// String is the pattern in its shortest spelling.
func (p pattern) String() string {
	if len(p.segs) == 0 {
		return "."
	}
	parts := make([]string, len(p.segs))
	for i, s := range p.segs {
		parts[i] = s.text
	}
	return strings.Join(parts, "/")
}

// isPath reports whether the pattern names one place, without any wildcard.
func (p pattern) isPath() bool {
	for _, s := range p.segs {
		if s.kind != literal {
			return false
		}
	}
	return true
}

// within reports whether q covers everything that p covers. It may miss that
// two globs with different wildcards do; it never claims it wrongly.
func (p pattern) within(q pattern) bool {
	inner, outer, floating := p.segs, q.segs, false
	for len(outer) > 0 {
		if outer[0].kind == anyDepth {
			floating, outer = true, outer[1:]
			continue
		}
		block := outer[:blockLen(outer)]
		for !blockWithin(inner, block) {
			if !floating || len(inner) == 0 {
				return false
			}
			inner = inner[1:]
		}
		inner, outer, floating = inner[len(block):], outer[len(block):], false
	}
	return true
}

// withinFolded is within of paths, for rules that ignore letter case.
func (p pattern) withinFolded(q pattern) bool { return p.folded().within(q.folded()) }

func (p pattern) folded() pattern {
	segs := make([]segment, len(p.segs))
	for i, s := range p.segs {
		segs[i] = segment{text: foldString(s.text)}
	}
	return pattern{segs: segs}
}

// blockLen is the number of segments before the first "**".
func blockLen(segs []segment) int {
	for i := range segs {
		if segs[i].kind == anyDepth {
			return i
		}
	}
	return len(segs)
}

// blockWithin reports whether each name that inner begins with matches block.
func blockWithin(inner, block []segment) bool {
	if len(inner) < len(block) {
		return false
	}
	for i := range block {
		p, q := &inner[i], &block[i]
		switch {
		case p.kind == anyDepth:
			return false
		case p.text == q.text, q.text == "*", p.kind == literal && q.matches([]byte(p.text)):
		case p.kind == simple && q.kind == simple && strings.HasPrefix(p.prefix, q.prefix) && strings.HasSuffix(p.suffix, q.suffix):
		default:
			return false
		}
	}
	return true
}

// leadsOut reports whether a path as written is absolute or climbs.
func leadsOut(p string) bool {
	return strings.HasPrefix(p, "/") || p == ".." || strings.HasPrefix(p, "../") || strings.HasSuffix(p, "/..") || strings.Contains(p, "/../")
}

// beneath returns an absolute path relative to an absolute root, by its text.
func beneath(root, p string) (string, bool) {
	root, p = path.Clean(root), path.Clean(p)
	if p == root {
		return ".", true
	}
	rest, ok := strings.CutPrefix(p, strings.TrimSuffix(root, "/")+"/")
	return rest, ok
}
