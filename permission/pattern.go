package permission

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/globs"
)

// pattern is one path or glob over places. It covers what it matches and
// everything beneath; one without components covers everything, the root itself
// included.
type pattern struct{ globs.Glob }

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
	if folded {
		p = globs.Fold(p)
	}
	// What a pattern matches it covers with all that is beneath: "x/**" is "x".
	p = trimDepth(p)
	switch {
	case p == "**" && folded:
		p = "*" // a rule that takes away leaves the root itself
	case p == "**":
		return pattern{}, nil
	}
	read, err := globs.Parse(p)
	return pattern{read}, err
}

// trimDepth removes each "**" that adds nothing: at the end, or after another.
func trimDepth(p string) string {
	for strings.HasSuffix(p, "/**") {
		p = strings.TrimSuffix(p, "/**")
	}
	if !strings.Contains(p, "**/**") {
		return p
	}
	names := strings.Split(p, "/")
	return strings.Join(slices.CompactFunc(names, func(a, b string) bool { return a == "**" && b == "**" }), "/")
}

// String is the pattern in its shortest spelling.
func (p pattern) String() string {
	if p.Len() == 0 {
		return "."
	}
	return p.Glob.String()
}

// isPath reports whether the pattern names one place, without any wildcard.
func (p pattern) isPath() bool { return p.Literals() == p.Len() }

// within reports whether q covers everything that p covers. It may miss that
// two globs with different wildcards do; it never claims it wrongly.
func (p pattern) within(q pattern) bool {
	inner, outer, floating := p.Parts(), q.Parts(), false
	for len(outer) > 0 {
		if outer[0].Kind() == globs.AnyDepth {
			floating, outer = true, outer[1:]
			continue
		}
		block := outer
		if n := slices.IndexFunc(outer, isAnyDepth); n >= 0 {
			block = outer[:n]
		}
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

func isAnyDepth(p globs.Part) bool { return p.Kind() == globs.AnyDepth }

// folded is a path as rules that ignore letter case read it.
func (p pattern) folded() pattern {
	if f, err := globs.Parse(globs.Fold(p.Glob.String())); err == nil {
		return pattern{f}
	}
	return p
}

// blockWithin reports whether each name that inner begins with matches block.
func blockWithin(inner, block []globs.Part) bool {
	if len(inner) < len(block) {
		return false
	}
	for i := range block {
		if !partWithin(&inner[i], &block[i]) {
			return false
		}
	}
	return true
}

// partWithin reports whether each name that p matches is one that q does.
func partWithin(p, q *globs.Part) bool {
	switch {
	case p.Kind() == globs.AnyDepth:
		return false
	case p.Text() == q.Text(), q.Text() == "*":
		return true
	case p.Kind() == globs.Literal:
		return globs.Match(q, p.Text())
	case p.Kind() == globs.Simple && q.Kind() == globs.Simple:
		begins, ends := p.Ends()
		prefix, suffix := q.Ends()
		return strings.HasPrefix(begins, prefix) && strings.HasSuffix(ends, suffix)
	}
	return false
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
