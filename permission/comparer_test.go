package permission

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The index finds what comparing each with each finds, and names the same one.
func TestComparerIsTheScan(t *testing.T) {
	segs := rapid.SampledFrom([]string{"a", "b", "ab", "a.x", "*", "**", "?", "*.x", "a*", "a*x", "[ab]", "{a,b}", "*b*", "?a.x", `\a`})
	glob := rapid.Custom(func(t *rapid.T) string {
		text := ""
		for _, s := range rapid.SliceOfN(segs, 1, 4).Draw(t, "segments") {
			text += "/" + s
		}
		return text[1:]
	})
	rapid.Check(t, func(t *rapid.T) {
		list, folded := rapid.SliceOfN(glob, 0, 12).Draw(t, "list"), rapid.Bool().Draw(t, "folded")
		pat, err := parsePattern(glob.Draw(t, "pattern"), folded)
		require.NoError(t, err)
		want := -1
		for i, text := range list {
			q, err := parsePattern(text, folded)
			require.NoError(t, err)
			if pat.within(q) {
				want = i
				break
			}
		}
		c := newComparer()
		require.Equal(t, want, c.first(pat, c.list(list, folded), func(int) bool { return true }), "%s in %q", pat, list)
		require.Equal(t, want >= 0, c.list(list, folded).covers(pat))
	})
}

// Ten thousand entries take a few comparisons each, and where the index helps
// nothing Lint ends at its bound, and says so.
func TestManyGlobsAreComparedInBounds(t *testing.T) {
	const n = 10_000
	shapes := map[string]func(i int) string{
		"places":   func(i int) string { return fmt.Sprintf("services/s%d/src", i) },
		"names":    func(i int) string { return fmt.Sprintf("**/.secret%d", i) },
		"suffixes": func(i int) string { return fmt.Sprintf("**/*.key%d", i) },
		"heads":    func(i int) string { return fmt.Sprintf("s%d/*/[a-c]*", i) },
		"braces":   func(i int) string { return fmt.Sprintf("**/{a,b}-%d", i) },
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			var hide, write []string
			for i := range n {
				hide, write = append(hide, shape(i)), append(write, fmt.Sprintf("services/w%d", i))
			}
			c := newComparer()
			none := func(_, _, _, format string, args ...any) { t.Errorf(format, args...) }
			lintList("hide", hide, c, none)
			for _, text := range write {
				pat, err := parsePattern(text, false)
				require.NoError(t, err)
				require.False(t, c.covered(pat, hide, true))
			}
			require.Less(t, math.MaxInt-c.left, 4*n)
		})
	}
	doc := Document{Version: 1, Extends: "sandboxed", FS: &FS{}}
	for i := range n {
		doc.FS.Hide = append(doc.FS.Hide, fmt.Sprintf("**/*s%d*", i))
		doc.FS.Write = append(doc.FS.Write, fmt.Sprintf("w%d", i))
	}
	src, err := FromDocument("p.yaml", doc)
	require.NoError(t, err)
	p, err := Compile(src, Options{})
	require.NoError(t, err)
	told := func(p Problem) bool { return p.Code == "too_many_rules" }
	require.True(t, slices.ContainsFunc(p.lint(), told))
	doc.FS.Hide = doc.FS.Hide[:50]
	src, err = FromDocument("p.yaml", doc)
	require.NoError(t, err)
	p, err = Compile(src, Options{})
	require.NoError(t, err)
	require.False(t, slices.ContainsFunc(p.lint(), told), "fifty are")
}
