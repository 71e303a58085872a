package pathresolver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// A glob that nobody would write by hand is refused when it is read, with what
// is wrong and where it stands. The same shape within the bounds is read.
func TestGlobsHaveBounds(t *testing.T) {
	_, root := scene(t)
	for text, want := range map[string]string{
		strings.Repeat("{a,b}", 26):                               "more than 1000 names",
		strings.Repeat("{a,", 26) + "x" + strings.Repeat("}", 26): "nested deeper than 8",
		"**/" + strings.Repeat("a", 4096):                         "longer than 4096 bytes",
	} {
		for _, set := range []func(*pathresolver.Config){
			func(c *pathresolver.Config) { c.Hide = []string{"ok", text} },
			func(c *pathresolver.Config) { c.Mask = []string{"ok", text} },
			func(c *pathresolver.Config) { c.Protect = []string{"ok", text} },
			func(c *pathresolver.Config) { c.AskWrite = []string{"ok", text} },
		} {
			cfg := pathresolver.Config{Root: root, WritePaths: []string{"."}}
			set(&cfg)
			_, err := pathresolver.New(cfg)
			var refused *pathresolver.ConfigError
			require.True(t, errors.As(err, &refused), "%.20s: %v", text, err)
			require.ErrorContains(t, err, want)
			require.Regexp(t, `^(hide|mask|protect|ask_write)\[1\]$`, refused.Violations[0].Field)
		}
	}
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}, Hide: []string{strings.Repeat("{a,b}", 9), "{a,{b,{c,d}}}x"}})
	require.NoError(t, err)
	defer r.Close()
	require.True(t, r.Verdict("ababababa").Hidden)
	require.True(t, r.Verdict("cx").Hidden)
	require.False(t, r.Verdict("abababab").Hidden)
}

// Many stars, over a name that nearly matches: a matcher that tries each star
// within the others does not end.
func TestStarsEnd(t *testing.T) {
	_, root := scene(t)
	var hide []string
	for i := range 50 {
		hide = append(hide, strings.Repeat("*a", 500)+fmt.Sprintf("*b%d", i), strings.Repeat("{*a,a*}", 9)+strings.Repeat("*a", 300)+fmt.Sprintf("*b%d", i))
	}
	r, err := pathresolver.New(pathresolver.Config{Root: root, Hide: hide})
	require.NoError(t, err)
	defer r.Close()
	require.False(t, r.Verdict(strings.Repeat("a", 255)).Hidden)
	require.True(t, r.Verdict(strings.Repeat("a", 1000)+"b7").Hidden, "as it should, where it does match")
}

func BenchmarkVerdictOfManyGlobs(b *testing.B) {
	root := b.TempDir()
	var hide, plain []string
	for i := range 2000 {
		plain = append(plain, fmt.Sprintf("**/secret%d", i), fmt.Sprintf("**/*.x%d", i), fmt.Sprintf("dir%d/private", i))
		hide = append(hide, fmt.Sprintf("**/s*-%d.{pem,key}", i), fmt.Sprintf("services/*/p%d/[a-c]*", i), fmt.Sprintf("dir%d/**/*.key", i), fmt.Sprintf("**/.env.%d*", i), fmt.Sprintf("a?/b%d", i))
	}
	few := []string{"**/.env", "**/.env.*", "**/*.pem", "**/*.{key,p12}", "secrets/**", "**/id_{rsa,ed25519}*"}
	for _, set := range []struct {
		name  string
		globs []string
	}{{"few", few}, {"plain", plain}, {"10000", hide}} {
		r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}, Hide: set.globs})
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		for _, place := range []string{"main.go", "services/users/internal/handler/user_handler.go", "services/users/p77/ax.go"} {
			b.Run(set.name+"/"+strings.ReplaceAll(place, "/", "_"), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r.Verdict(place)
				}
			})
		}
	}
}

func BenchmarkNewWithManyGlobs(b *testing.B) {
	root := b.TempDir()
	var hide []string
	for i := range 2000 {
		hide = append(hide, fmt.Sprintf("**/s*-%d.{pem,key}", i), fmt.Sprintf("services/*/p%d/[a-c]*", i), fmt.Sprintf("dir%d/**/*.key", i), fmt.Sprintf("**/.env.%d*", i), fmt.Sprintf("a?/b%d", i))
	}
	b.ReportAllocs()
	for b.Loop() {
		r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"."}, Hide: hide})
		if err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}
