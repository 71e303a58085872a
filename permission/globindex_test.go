package permission

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/internal/globs"
)

// The index finds what trying one glob after the other finds, and names the
// same one.
func TestGlobIndexIsTheScan(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "ab", "aab", "a.x", "b.x", "a-b.x", ".env"})
	segs := rapid.SampledFrom([]string{"a", "b", "*", "?", "**", "*.x", "{a,b}", "[ab]", ".env", "a*", "a*b", "?a.x", `\a*b`, "*{b,.x}", "[!a]b"})
	place := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(names, 1, 5).Draw(t, "names"), "/")
	})
	glob := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(segs, 1, 5).Draw(t, "segments"), "/")
	})
	rapid.Check(t, func(t *rapid.T) {
		var patterns []pattern
		var rules []*rule
		var all branches
		for i, text := range rapid.SliceOfN(glob, fewGlobs+1, 40).Draw(t, "globs") {
			p, err := parsePattern(text, true)
			require.NoError(t, err, text)
			patterns, rules = append(patterns, p), append(rules, &rule{text: text})
			if p.Parts()[0].Kind() != globs.Literal {
				all.add(headed{glob: p.Glob, rule: i})
			}
		}
		at := []byte(place.Draw(t, "place"))
		require.Equal(t, (&tried{}).first(all.all, at, -1), all.find(at), "%v at %s", rules, at)
		covered := false
		for _, p := range patterns {
			covered = covered || globs.Covers(p.Glob, at)
		}
		found := newPatternSet(patterns, rules).covers(at)
		require.Equal(t, covered, found != nil, "%s", at)
		if found != nil {
			p, err := parsePattern(found.text, true)
			require.NoError(t, err)
			require.True(t, globs.Covers(p.Glob, at))
		}
	})
}
