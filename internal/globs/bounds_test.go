package globs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBounds(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"26 braces in a row":      {strings.Repeat("{a,b}", 26), "more than 1000 names"},
		"26 braces, of two":       {strings.Repeat("{a,aa}", 26) + "z", "more than 1000 names"},
		"26 nested braces":        {strings.Repeat("{a,", 26) + "x" + strings.Repeat("}", 26), "nested deeper than 8"},
		"1001 alternatives":       {"{" + strings.Repeat("a,", 1000) + "}", "more than 1000 names"},
		"a long one":              {strings.Repeat("a", MaxBytes+1), "longer than 4096 bytes"},
		"many components":         {strings.Repeat("a/", MaxComponents) + "a", "more than 62 components"},
		"open braces":             {strings.Repeat("{", 4000), "not a valid glob"},
		"more than int counts":    {strings.Repeat("{,,,,,,,,,,,,,,,}", 200), "more than 1000 names"},
		"in one component of two": {"a/" + strings.Repeat("{a,b}", 10), "more than 1000 names"},
		"a slash within":          {"{a/b,c}", `has a "/" inside braces`},
		"stars beside others":     {"a**", `has "**" beside`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(c.text)
			require.ErrorContains(t, err, c.want)
		})
	}
	for name, text := range map[string]string{
		"9 braces in a row":  strings.Repeat("{a,b}", 9),
		"1000 alternatives":  "{" + strings.Repeat("a,", 999) + "}",
		"8 nested braces":    strings.Repeat("{a,", 8) + "x" + strings.Repeat("}", 8),
		"as long as may be":  strings.Repeat("a", MaxBytes),
		"62 components":      strings.Repeat("a/", MaxComponents-1) + "a",
		"many in each of 20": strings.TrimSuffix(strings.Repeat(strings.Repeat("{a,b}", 9)+"/", 20), "/"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(text)
			require.NoError(t, err)
		})
	}
}

// What a glob costs is bounded by its length: counted in instructions, which
// are at most two for each byte, and by the states that a match looks at, which
// are at most the instructions for each character of a name.
func TestCostIsBounded(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("*a", MaxBytes/2), strings.Repeat("?*", MaxBytes/2), strings.Repeat("[a]", MaxBytes/3),
		"{" + strings.Repeat("*a,", MaxBytes/4)[:MaxAlternatives*3-3] + "}", strings.Repeat("{*a,aa}", 9) + strings.Repeat("*a", 900),
		strings.Repeat("{}", MaxBytes/2), "*" + strings.Repeat("{,}", 9), strings.Repeat("a", 4000) + "?",
	} {
		p, err := ParsePart(text)
		require.NoError(t, err, text)
		require.LessOrEqual(t, len(p.program.ops), maxOps)
		require.LessOrEqual(t, len(p.program.ops), 2*len(text)+2)
		name := strings.Repeat("a", 255)
		require.Zero(t, testing.AllocsPerRun(1, func() { Match(&p, name+"b") })-1, "one for the name: %.20s", text)
		for i, o := range p.program.ops {
			if o.kind == split || o.kind == jump {
				require.Greater(t, int(o.to), i, "a state leads forward only")
				require.Less(t, int(o.to), len(p.program.ops))
			}
		}
	}
}

func TestFold(t *testing.T) {
	for _, name := range []string{"a", "ABC", "É", "E\u0301", ".e\u200cnv", "ß", "\xff", "日"} {
		require.Equal(t, "x"+Fold(name), string(AppendFold([]byte("x"), name)))
		require.Equal(t, Fold(name), Fold(Fold(name)))
	}
	require.Equal(t, Fold("É"), Fold("e\u0301"))
	require.Equal(t, ".env", Fold(".e\u200cNV"))
	require.Zero(t, testing.AllocsPerRun(10, func() { Fold("plain.go") }))
}

func TestAlternatives(t *testing.T) {
	list, err := Alternatives("src/{a/b,{c,d}}/{x,y}[{/]")
	require.NoError(t, err)
	require.Equal(t, []string{"src/a/b/{x,y}[{/]", "src/{c,d}/{x,y}[{/]"}, list)
	_, err = Alternatives(strings.Repeat("{a/b,c/d}", 7))
	require.ErrorContains(t, err, "more than 64 globs")
	list, err = Alternatives(strings.Repeat("{a,b}", 26))
	require.NoError(t, err, "Parse refuses it")
	require.Len(t, list, 1)
	_, err = Alternatives("{a")
	require.Error(t, err)
}

func BenchmarkMatch(b *testing.B) {
	for _, c := range []struct{ text, name string }{
		{"*.{pem,key}", "user_handler_test.go"}, {"?*.go", "user_handler_test.go"}, {"[ab]*", "user_handler_test.go"},
		{"*test*.go", "user_handler_test.go"}, {"{package,yarn,pnpm}*.{json,lock,yaml}", "package-lock.json"},
		{strings.Repeat("*a", 900), strings.Repeat("a", 255)},
	} {
		p, err := ParsePart(c.text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.text[:min(len(c.text), 20)], func(b *testing.B) {
			for b.Loop() {
				Match(&p, c.name)
			}
		})
		b.Run("doublestar:"+c.text[:min(len(c.text), 20)], func(b *testing.B) {
			for b.Loop() {
				doublestarMatch(c.text, c.name)
			}
		})
	}
}
