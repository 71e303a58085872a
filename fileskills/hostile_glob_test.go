package fileskills

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Braces within a component are matched in a time that does not multiply: the
// first of these globs took a minute at 24 braces, and had 800. T02, T04
func TestGlobOfManyBraces(t *testing.T) {
	w := newWorld(t)
	w.plant(strings.Repeat("a", 200), "x")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it ends, or it never does
	defer cancel()
	for _, glob := range []string{
		strings.Repeat("{a,aa}", 40) + "x",
		strings.Repeat("{a,aa}", 600) + "x",
		strings.Repeat("{*,*a}", 40) + "x",
		"{" + strings.Repeat("a,", 1000) + "b}",
	} {
		for _, in := range []string{`{"pattern":"` + glob + `"}`, `{"pattern":"**","exclude":["` + glob + `"]}`} {
			_, err := w.set.Call(ctx, "glob", []byte(in))
			require.ErrorContains(t, err, "braces that stand for more than 1000 names")
		}
		_, err := w.set.Call(ctx, "grep", []byte(`{"pattern":"x","include":"`+glob+`"}`))
		require.ErrorContains(t, err, "braces that stand for more than 1000 names")
	}
	// One alternative each: it is no more than a row of stars.
	_, err := w.set.Call(ctx, "glob", []byte(`{"pattern":"`+strings.Repeat("*{a}", 100)+`x"}`))
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("a", 200), w.ok("glob", args{"pattern": strings.Repeat("*{a}", 100)}).Text)
	require.Equal(t, strings.Repeat("a", 200), w.ok("glob", args{"pattern": "{b,{c,a*}}"}).Text)
}

// A .gitignore in each of many nested directories does not add up without
// end. T02
func TestIgnoreRulesAreBounded(t *testing.T) {
	w := newWorld(t)
	rules := strings.Repeat("x?y\n", 3000)
	dir := ""
	for range 20 {
		w.plant(dir+".gitignore", rules)
		dir += "d/"
	}
	w.plant(dir+"xay", "needle")
	text := w.ok("grep", args{"pattern": "needle"}).Text
	require.Contains(t, text, "1 ignored file", "the first rules count")

	var held ignoreRules
	d, err := w.set.fs.OpenDir(".")
	require.NoError(t, err)
	defer d.Close()
	for range 20 {
		held = held.readIgnore(d, ".gitignore")
	}
	require.Len(t, held, maxIgnoreRules)
	require.LessOrEqual(t, held.steps(), maxIgnoreSteps)

	// A few long ones are as much work as many short ones.
	w.plant(".gitignore", strings.Repeat(strings.Repeat("*a", 2000)+"\n", 200))
	held = ignoreRules(nil).readIgnore(d, ".gitignore")
	require.LessOrEqual(t, held.steps(), maxIgnoreSteps)
	require.NotEmpty(t, held, "the first count")
}

// A search whose every match is looked for to the end of the file, and one
// line that a large pattern has to be run over, end when the caller has gone,
// and by themselves. T02, T04
func TestGrepEndsWhateverThePattern(t *testing.T) {
	w := newWorld(t)
	w.plant("lines", strings.Repeat("a\n", 3<<20))
	w.plant("line", strings.Repeat("a", 8<<20))
	for _, in := range []struct{ name, json string }{
		{"matches", `{"path":"lines","pattern":"(?s:a.*b)|a","multiline":true,"output":"count"}`},
		{"weight", `{"path":"line","pattern":"(?:a?){990}(?:a?){990}(?:a?){990}[^a]"}`},
	} {
		t.Run(in.name, func(t *testing.T) {
			run := func(ctx context.Context) error {
				var args grepIn
				require.NoError(t, byName()["grep"].decode([]byte(in.json), &args))
				p, err := newLinePattern(args.Pattern, grepFlags{multiline: args.Multiline})
				require.NoError(t, err)
				f, err := w.set.fs.Open(string(args.Path))
				require.NoError(t, err)
				defer f.Close()
				_, err = (&scanner{pattern: p}).run(ctx, f, scanWant{named: true})
				return err
			}
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			require.ErrorIs(t, run(ctx), context.DeadlineExceeded, "the goroutine itself ends, not only its caller")
		})
	}
	p, err := newLinePattern("(?s:a.*b)|a", grepFlags{multiline: true})
	require.NoError(t, err)
	f, _ := p.finder(t.Context(), []byte("a\n"), nil)
	_, _, _, _, ok := f.find(0)
	require.True(t, ok)
	f.from = time.Now().Add(-maxFindTime)
	_, _, _, _, ok = f.find(0)
	require.False(t, ok)
	require.ErrorIs(t, f.err, errTooCostly)
	require.Contains(t, w.ok("grep", args{"path": "lines", "pattern": "a", "output": "count"}).Text, "3145728")
}
