package fileskills

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzGlob: no pattern shows what is outside, panics, or is anything but an
// answer or an *Error.
func FuzzGlob(f *testing.F) {
	for _, s := range []string{"**", "*.go", "{a,b/c}/**", "../**", "/etc/*", "[", `\`, "a/{b,{c,d}/e}.go", "ld/*", "[!a]*", "**/**/**", "{,/}"} {
		f.Add(s, "*.md")
	}
	base, err := filepath.EvalSymlinks(f.TempDir())
	require.NoError(f, err)
	for _, dir := range []string{"outside", "root/a/deep"} {
		require.NoError(f, os.MkdirAll(filepath.Join(base, dir), 0o755))
	}
	for _, file := range []string{"outside/secret", "root/a/b.go", "root/a/deep/c.md", "root/d.md"} {
		require.NoError(f, os.WriteFile(filepath.Join(base, file), nil, 0o644))
	}
	require.NoError(f, os.Symlink("../outside", filepath.Join(base, "root", "ld")))
	set := setOver(f, filepath.Join(base, "root"))
	f.Fuzz(func(t *testing.T, pattern, exclude string) {
		input, err := json.Marshal(args{"pattern": pattern, "exclude": []string{exclude}, "kind": "any"})
		require.NoError(t, err)
		res, err := set.Call(t.Context(), "glob", input)
		var e *Error
		require.True(t, err == nil || errors.As(err, &e))
		if err != nil {
			require.NotEqual(t, CodeIOError, e.Code, e.Message)
			require.NotContains(t, strings.ReplaceAll(e.Error(), shown(pattern), ""), base)
			return
		}
		require.NotContains(t, strings.ReplaceAll(res.Text, shown(pattern), ""), "secret")
		require.True(t, utf8.ValidString(res.Text))
	})
}

// FuzzGrep: ours finds the lines that the expression matches one by one.
func FuzzGrep(f *testing.F) {
	f.Add("a|b", "xa\nb\r\n\xff", false)
	f.Add(`^\s*$`, "\n \n", false)
	f.Add("(?i)straße", "STRASSE\nStraße", false)
	f.Add(`\bfoo\b`, "foo\nxfoo\n", true)
	f.Add("k", "\u212a", true)
	f.Add("[^a]$", "ab\r\nba\n", false)
	f.Fuzz(func(t *testing.T, expr, text string, fold bool) {
		p, err := newLinePattern(expr, grepFlags{ignoreCase: fold})
		if err != nil || strings.ContainsRune(text, 0) || strings.Contains(expr, "\r") || strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") || strings.HasPrefix(text, "\xef\xbb\xbf") {
			return
		}
		if strings.Contains(expr, "(?") {
			return // flags within can change what ^, $ and . mean to the plain one
		}
		plain := expr
		if fold {
			plain = "(?i)" + expr
		}
		re, err := regexp.Compile(plain)
		require.NoError(t, err)
		require.Equal(t, plainGrep(re, text), scanLines(t, p, strings.NewReader(text), 16), "%q on %q", expr, text)
	})
}

// FuzzIgnoreFile: any text is rules, or none.
func FuzzIgnoreFile(f *testing.F) {
	for _, s := range []string{"a\n!b/\n", "[[:alpha:]]\n", "\\", "[]", "**/[!]]", "/", "{a", "[[:x"} {
		f.Add(s, "a")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		rules := parseIgnore([]byte(text), maxIgnoreRules)
		rules.ignored(name, true)
		rules.enter(name).named(true).ignored(name, false)
	})
}
