package globs

import (
	"errors"
	"fmt"
	"strings"
)

// Bounds of one glob. What lies beyond them is an error of Parse.
const (
	MaxBytes        = 4096 // of its text (PATH_MAX)
	MaxComponents   = 62   // so that a set of States fits one word
	MaxNesting      = 8    // braces within braces
	MaxAlternatives = 1000 // names that the braces of one component stand for, written out
)

// Errors of Parse that callers tell apart.
var (
	errInvalid = errors.New("is not a valid glob")
	errSlash   = errors.New(`has a "/" inside braces or brackets: write one glob for each`)
	errStars   = errors.New(`has "**" beside other characters in one component`)
	errLong    = fmt.Errorf("is longer than %d bytes", MaxBytes)
	errMany    = fmt.Errorf("has more than %d components", MaxComponents)
	errNesting = fmt.Errorf("has braces nested deeper than %d: write several globs", MaxNesting)
	errBraces  = fmt.Errorf("has braces that stand for more than %d names in one component: write several globs", MaxAlternatives)
)

// Glob is a glob that was read: its components. The zero Glob has none. A Glob
// is never changed, so that copies of it share their components.
type Glob struct{ parts []Part }

// Parse reads a glob of components with "/" between them, which neither begins
// nor ends with one. The error says what is wrong with the text, as the end of
// a sentence: "is not a valid glob".
func Parse(text string) (Glob, error) {
	if len(text) > MaxBytes {
		return Glob{}, errLong
	}
	if !balanced(text) {
		return Glob{}, errInvalid
	}
	var g Glob
	for name := range strings.SplitSeq(text, "/") {
		if name == "" || name == "." || name == ".." {
			return Glob{}, fmt.Errorf("has a component %q", name)
		}
		p, err := ParsePart(name)
		if errors.Is(err, errInvalid) {
			err = errSlash // the whole was valid
		}
		if err == nil && p.kind == General && strings.Contains(name, "**") {
			err = errStars
		}
		if err != nil {
			return Glob{}, err
		}
		g.parts = append(g.parts, p)
	}
	if len(g.parts) > MaxComponents {
		return Glob{}, errMany
	}
	return g, nil
}

// Of is the Glob of components that were read one by one, at most
// MaxComponents. It keeps the slice.
func Of(parts []Part) Glob {
	if len(parts) > MaxComponents {
		panic("globs: bug: more components than States hold")
	}
	return Glob{parts}
}

// Len is the number of components.
func (g Glob) Len() int { return len(g.parts) }

// Parts are the components, to be read only.
func (g Glob) Parts() []Part { return g.parts }

// String is the text of the components, with "/" between them.
func (g Glob) String() string {
	texts := make([]string, len(g.parts))
	for i := range g.parts {
		texts[i] = g.parts[i].text
	}
	return strings.Join(texts, "/")
}

// Literals is how many components at the beginning stand for themselves alone.
func (g Glob) Literals() int {
	for i := range g.parts {
		if g.parts[i].kind != Literal {
			return i
		}
	}
	return len(g.parts)
}

// Steps is the most work that a match of one character may be: the
// instructions of all components, of which those without any count 1.
func (g Glob) Steps() (n int) {
	for i := range g.parts {
		n += g.parts[i].steps()
	}
	return n
}

// Covers reports whether a glob matches a place, or one of the directories that
// hold it. Between two "**" the earliest match is as good as any, since all that
// follows it is covered: so there is no backtracking.
func Covers[T Text](g Glob, place T) bool {
	parts, floating := g.parts, false
	for len(parts) > 0 {
		if parts[0].kind == AnyDepth {
			floating, parts = true, parts[1:]
			continue
		}
		block := parts[:blockLen(parts)]
		rest, ok := matchBlock(block, place)
		for !ok && floating {
			cut := slash(place)
			if cut < 0 {
				return false
			}
			place = place[cut+1:]
			rest, ok = matchBlock(block, place)
		}
		if !ok {
			return false
		}
		place, parts, floating = rest, parts[len(block):], false
	}
	return true
}

// matchBlock matches components without "**" at the start of place and returns
// what is left of it.
func matchBlock[T Text](block []Part, place T) (rest T, ok bool) {
	for i := range block {
		if len(place) == 0 {
			return rest, false
		}
		name, left := place, rest
		if cut := slash(place); cut >= 0 {
			name, left = place[:cut], place[cut+1:]
		}
		if !Match(&block[i], name) {
			return rest, false
		}
		place = left
	}
	return place, true
}

// blockLen is the number of components before the first "**".
func blockLen(parts []Part) int {
	for i := range parts {
		if parts[i].kind == AnyDepth {
			return i
		}
	}
	return len(parts)
}

func slash[T Text](place T) int {
	for i := range len(place) {
		if place[i] == '/' {
			return i
		}
	}
	return -1
}
