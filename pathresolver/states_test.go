package pathresolver

import (
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Few names, so that globs and places meet often.
var (
	genName  = rapid.SampledFrom([]string{"a", "b", "ab", "a.x", "b.x", ".env", "É"})
	genSeg   = rapid.SampledFrom([]string{"a", "b", "*", "?", "**", "*.x", "{a,b}", "[ab]", ".env", "a*", "É"})
	genPlace = rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(genName, 1, 5).Draw(t, "names"), "/")
	})
	genGlob = rapid.Custom(func(t *rapid.T) string {
		text := strings.Join(rapid.SliceOfN(genSeg, 1, 4).Draw(t, "segments"), "/")
		// One "**" after another says nothing more.
		for strings.Contains(text, "**/**") {
			text = strings.ReplaceAll(text, "**/**", "**")
		}
		return text
	})
)

func mustCompile(t require.TestingT, texts []string) ruleSet {
	var globs []glob
	for _, text := range texts {
		g, err := compileGlob(text)
		require.NoError(t, err, text)
		globs = append(globs, g)
	}
	return newRuleSet(globs)
}

// What the index and the automaton say is what doublestar says of the place
// and its ancestors, one by one.
func TestCoversIsDoublestar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(genGlob, 1, 4).Draw(t, "globs")
		place := genPlace.Draw(t, "place")
		rules := mustCompile(t, texts)
		want := false
		for _, text := range texts {
			// A trailing "**" is implied, and a bare one leaves the root alone.
			pattern := strings.TrimSuffix(fold(text), "/**")
			if pattern == "**" {
				pattern = "*"
			}
			folded := fold(place)
			for i := 0; i <= len(folded); i++ {
				if i == len(folded) || folded[i] == '/' {
					ok, err := doublestar.Match(pattern, folded[:i])
					require.NoError(t, err)
					want = want || ok
				}
			}
		}
		got := rules.covers(place) != nil
		require.Equal(t, want, got, "%q over %q", texts, place)
		parent, name := splitPlace(place)
		if rules.covers(parent) == nil && name != "" {
			require.Equal(t, got, rules.matches(place) != nil)
		}
	})
}

// I6: where a move is not said to escape, no descendant leaves the globs'
// reach by it; where nothing is said to match beneath, nothing does.
func TestMovesEscapeNoRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := mustCompile(t, rapid.SliceOfN(genGlob, 1, 3).Draw(t, "globs"))
		from, to := genPlace.Draw(t, "from"), genPlace.Draw(t, "to")
		below := genPlace.Draw(t, "below")
		covered := rules.covers(from+"/"+below) != nil
		if rules.escapes(from, to) == nil && covered {
			require.NotNil(t, rules.covers(to+"/"+below), "%s -> %s lets %s escape", from, to, below)
		}
		if rules.mayMatchBeneath(from) == nil {
			require.False(t, covered)
		}
	})
}

// The index finds what trying one glob after the other finds, and names the
// same one.
func TestIndexIsTheScan(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "ab", "aab", "a.x", "b.x", "a-b.x", ".env", "É", "A"})
	segs := rapid.SampledFrom([]string{"a", "b", "a", "b", "*", "?", "**", "**", "*.x", "{a,b}", "[ab]", ".env", "a*", "a*b", "?a.x", `\a*b`, "*{b,.x}", "[!a]b", "é*", "É"})
	place := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(names, 1, 5).Draw(t, "names"), "/")
	})
	globs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(segs, 1, 5).Draw(t, "segments"), "/")
	}), 1, 30)
	first := func(s *ruleSet, holds func(g *glob) bool) *glob {
		for i := range s.all {
			if g := &s.all[i]; holds(g) {
				return g
			}
		}
		return nil
	}
	rapid.Check(t, func(t *rapid.T) {
		texts := globs.Draw(t, "globs")
		rules := mustCompile(t, texts)
		from, to := place.Draw(t, "from"), place.Draw(t, "to")
		if rapid.Bool().Draw(t, "beneath") {
			to = from + "/" + to
		}
		require.Same(t, first(&rules, func(g *glob) bool { return g.states(fold(from)) != 0 }), rules.mayMatchBeneath(from), "%q beneath %s", texts, from)
		require.Same(t, rules.scanEscapes(fold(from), fold(to)), rules.escapes(from, to), "%q: %s -> %s", texts, from, to)
		require.Same(t, rules.scanEscapes(fold(to), fold(from)), rules.escapes(to, from), "%q: %s -> %s", texts, to, from)
		require.Equal(t, first(&rules, func(g *glob) bool { return g.covers(fold(from)) }) != nil, rules.covers(from) != nil, "%q over %s", texts, from)
		few := rules.tried(fold(from))
		rules.few = nil
		require.Same(t, first(&rules, func(g *glob) bool {
			mapped := rules.places[strings.Join(g.segs, "/")] != nil ||
				len(g.segs) == 2 && g.segs[0] == "**" && (isLiteral(g.segs[1]) || strings.HasPrefix(g.segs[1], "*.") && isLiteral(g.segs[1][1:]))
			return !mapped && g.covers(fold(from))
		}), rules.tried(fold(from)))
		if few != nil {
			require.Same(t, few, rules.tried(fold(from)))
		}
	})
}
