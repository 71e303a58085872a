package fileskills

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// checkRegex compares matches, which reads through a window, with what the
// matcher of the standard library finds in the whole text.
func checkRegex(t *testing.T, expr, on string) {
	p, err := compilePattern(expr, false, false, false)
	plain, stdErr := regexp.Compile(lineFeeds(expr))
	if stdErr != nil {
		require.Error(t, err)
		return
	}
	var e *Error
	if errors.As(err, &e) {
		require.Contains(t, e.Message, "too large")
		return
	}
	on = strings.ToValidUTF8(on, "?")
	var got [][]int
	err = p.matches(background, "f", []byte(on), 0, func(m match) error {
		got = append(got, m)
		return nil
	})
	if errors.As(err, &e) {
		require.Equal(t, CodeTooLarge, e.Code)
		return
	}
	require.NoError(t, err)
	require.Equal(t, plain.FindAllStringSubmatchIndex(on, -1), got, "%q on %q", expr, on)
}

func FuzzRegex(f *testing.F) {
	for _, expr := range []string{"a", "(a)|b*", `\bfoo\b`, "(?m)^x?$", "(?i)Ä", `\Qa(\E`, "(?s)a.*?b", `\B`, "^", "$", "(?U)a+", "x{2,3}", "(?:^|b)a", `\Aa|b\z`, "a|ab"} {
		f.Add(expr, "foo a\nab xx äÄ\n bba foo\n")
	}
	f.Fuzz(func(t *testing.T, expr, on string) {
		if len(expr) > 200 || len(on) > 500 {
			return
		}
		checkRegex(t, expr, on)
	})
}

func FuzzTemplate(f *testing.F) {
	f.Add(`\1 \g<name> \\ \n`, "x=y")
	f.Add(`\10\g<0>\.`, "ab=c")
	p, err := compilePattern(`(\w+)=(?P<name>\w*)`, false, false, false)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, replacement, on string) {
		by, err := p.template(replacement)
		if err != nil {
			require.IsType(t, &Error{}, err)
			return
		}
		text := []byte(strings.ToValidUTF8(on, "?"))
		require.NoError(t, p.matches(background, "f", text, 0, func(m match) error {
			out := by.expand(text, m)
			require.Len(t, out, by.size(m))
			if !strings.Contains(replacement, `\`) {
				require.Equal(t, lineFeeds(replacement), out)
			}
			return nil
		}))
	})
}

// A pattern that has to read to the end of the text for every match would take
// quadratic time: it is stopped by what it reads, and by ctx at once.
func TestRegexIsBounded(t *testing.T) {
	p, err := compilePattern("a.*b|a", false, false, true)
	require.NoError(t, err)
	text := []byte(strings.Repeat("a", 8<<20))

	ctx, cancel := context.WithCancel(background)
	stopped := make(chan time.Time, 1)
	time.AfterFunc(30*time.Millisecond, func() {
		stopped <- time.Now()
		cancel()
	})
	err = p.matches(ctx, "f", text, 0, func(match) error { return nil })
	require.ErrorIs(t, err, context.Canceled)
	t.Logf("ended %v after it was cancelled", time.Since(<-stopped))

	heavy, err := compilePattern("a.*b|a"+strings.Repeat("|y{1000}", 4), false, false, true)
	require.NoError(t, err)
	found := 0
	err = heavy.matches(background, "f", text[:64<<10], 0, func(match) error { found++; return nil })
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, CodeTooLarge, e.Code)
	require.Less(t, found, 1000)
}
