package globs

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/require"
)

// pieces are what random globs are made of. Few of them, so that globs and
// names meet often.
var pieces = []string{"a", "a", "b", "b", "ab", "*", "*", "?", "[ab]", "[!a]", "[^b-c]", "[a-]", "[-a]", "[--b]", "[a-c-e]", `[\]a]`, `[a\-c]`, "[é-ü]",
	"{", "{", "{a,", "{*", ",", ",", ",", "}", "}", "}", "}", `\a`, `\*`, `\{`, `\,`, `\\`, "é", "]", "-", "^", "!", "[", "[", `\`, ".", "{}", "{,a}"}

var letters = []string{"a", "a", "a", "a", "a", "b", "b", "b", "b", "c", "é", "ö", "-", ".", "*", "{", ",", `\`, "]", "e", "^", "!", "�"}

func random(r *rand.Rand, from []string, most int) string {
	var b strings.Builder
	for range r.IntN(most + 1) {
		b.WriteString(from[r.IntN(len(from))])
	}
	return b.String()
}

// What a component matches is what doublestar says of the globs that its braces
// stand for, written out, and but for a glob that ends with nothing what it
// says of the glob itself. What is valid is what is valid there.
func TestMatchIsDoublestar(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 9))
	pairs, matched, nothing, valid := 0, 0, 0, 0
	for range 100_000 {
		text := random(r, pieces, 6)
		if text == "" || text == "." || text == ".." || strings.Contains(text, "**") {
			continue
		}
		g, err := Parse(text)
		require.Equal(t, doublestar.ValidatePattern(text), err == nil, "%q: %v", text, err)
		if err != nil {
			continue
		}
		valid++
		all := allAtOnce(g.parts[0])
		out := writtenOut(text, nil)
		for range 8 {
			name := random(r, letters, 4)
			if name == "" {
				continue
			}
			want := false
			for _, one := range out {
				want = want || doublestarMatch(one, name)
			}
			got := Match(&g.parts[0], name)
			require.Equal(t, want, got, "%q over %q", text, name)
			require.Equal(t, got, Match(&g.parts[0], []byte(name)), "%q over %q", text, name)
			require.Equal(t, got, Match(&all, name), "all at once: %q over %q", text, name)
			if doublestarMatch(text, name) != got {
				require.True(t, got && strings.Contains(text, "*"), "%q over %q: doublestar sees no empty alternatives after a star", text, name)
				nothing++
			}
			pairs++
			if got {
				matched++
			}
		}
	}
	t.Logf("%d valid globs, %d pairs, %d matched, %d of them by what stands for nothing at the end", valid, pairs, matched, nothing)
	require.Greater(t, pairs, 200_000)
	require.Greater(t, matched, 10_000)
}

// allAtOnce is a component whose braces are alternatives of one automaton,
// however few names they stand for.
func allAtOnce(p Part) Part {
	if len(p.names) > 0 {
		c := compiler{text: p.text}
		_, _ = c.sequence(0)
		p.names, p.program = nil, c.done()
		p.program.forks = true
	}
	return p
}

// Places too, and their ancestors: by the blocks and by the states.
func TestCoversIsDoublestar(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 10))
	segs := []string{"a", "b", "*", "?", "**", "**", "*.x", "{a,b}", "[ab]", ".env", "a*", "a*b", `\a*b`, "*{b,.x}"}
	names := []string{"a", "b", "ab", "aab", "a.x", "b.x", "a-b.x", ".env"}
	covered := 0
	for range 100_000 {
		var texts []string
		for range 1 + r.IntN(4) {
			texts = append(texts, segs[r.IntN(len(segs))])
		}
		for len(texts) > 1 && texts[len(texts)-1] == "**" {
			texts = texts[:len(texts)-1]
		}
		if texts[0] == "**" && len(texts) == 1 {
			texts[0] = "*"
		}
		text := strings.Join(texts, "/")
		g, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, text, g.String())
		var place []string
		for range 1 + r.IntN(5) {
			place = append(place, names[r.IntN(len(names))])
		}
		want, s := false, g.Start()
		for i := range place {
			ok, err := doublestar.Match(text, strings.Join(place[:i+1], "/"))
			require.NoError(t, err)
			want = want || ok
			require.Equal(t, ok, g.Matched(Step(g, s, place[i])) && !g.Matched(s), "%s over %s", text, place[:i+1])
			require.Equal(t, ok, Accepts(g, s, place[i]))
			s = StepCovered(g, s, place[i])
			if ok {
				break
			}
		}
		at := strings.Join(place, "/")
		require.Equal(t, want, Covers(g, at), "%s over %s", text, at)
		require.Equal(t, want, Covers(g, []byte(at)))
		if want {
			covered++
		}
	}
	require.Greater(t, covered, 20_000)
}

// doublestarMatch takes an error for no match, as everybody did: of a glob that
// it holds valid doublestar gives one where a class with braces in it fails.
func doublestarMatch(text, name string) bool {
	ok, err := doublestar.Match(text, name)
	return ok && err == nil
}
