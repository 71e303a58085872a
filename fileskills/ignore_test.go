package fileskills

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// visited walks a world and returns what a search would look at.
func (w *world) visited(path string, includeIgnored bool) []string {
	w.t.Helper()
	c := &call{set: w.set, fs: w.set.fs, skill: globFiles, ctx: context.Background()}
	k, rules, err := c.newWalk(path, includeIgnored)
	require.NoError(w.t, err)
	defer k.close(c.ctx)
	k.want, err = newPathGlob("**")
	require.NoError(w.t, err)
	k.links = true
	found := []string{}
	require.NoError(w.t, k.run(c.ctx, rules, func(dir, name string, _ fs.FileMode) (bool, error) {
		found = append(found, k.place(joinRel(dir, name)))
		return true, nil
	}))
	return found
}

// plant makes a file and the directories above it.
func (w *world) plant(name, content string) {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	w.write(name, content)
}

// gitFiles is what git itself would look at.
func (w *world) gitFiles() []string {
	w.t.Helper()
	cmd := exec.Command("git", "-c", "core.quotePath=false", "ls-files", "--others", "--exclude-standard", "-z")
	cmd.Dir = w.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.Output()
	require.NoError(w.t, err)
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(out) == 0 {
		files = []string{}
	}
	slices.Sort(files)
	return files
}

func (w *world) gitInit() {
	w.t.Helper()
	cmd := exec.Command("git", "init", "-q", w.root)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	require.NoError(w.t, cmd.Run())
}

// sameAsGit compares the two.
func (w *world) sameAsGit(why string) {
	w.t.Helper()
	ours := w.visited(".", false)
	slices.Sort(ours)
	require.Equal(w.t, w.gitFiles(), ours, why)
}

func TestIgnoreAsGit(t *testing.T) {
	for name, patterns := range map[string]string{
		"plain":        "a\n*.o\n",
		"anchored":     "/a\nb/c\n",
		"directory":    "a/\nb/\n",
		"negated":      "*.o\n!keep.o\n",
		"below":        "a/*\n!a/b\n",
		"stars":        "**/c\na/**\n",
		"middle":       "a/**/c\n",
		"doublestar":   "a**\n*b**\n",
		"whitelist":    "*\n!*/\n!*.go\n",
		"comment":      "#a\n\\#b\n\n   \n",
		"bang":         "\\!a\n",
		"spaces":       "a   \nb\\ \nc \\  \n",
		"classes":      "[ab]\n[!a].o\n[^b].go\n[[:digit:]]\n[]x]\n[a-]\n",
		"braces":       "{a,b}\n*.{o,go}\n",
		"backslash":    "a\\b\n\\a\n*\\*\nx\\\n",
		"crlf":         "a\r\n*.o\r\n",
		"mark":         "\xef\xbb\xbfa\n*.o\n",
		"broken":       "[a\na[\n[!\n",
		"question":     "?\n??.o\n",
		"onlySlash":    "/\n//\n",
		"doubleSlash":  "a//b\n",
		"dirStars":     "a/**/\n**/b/\n",
		"deepNegation": "a/\n!a/b/c\n",
		"noNewline":    "a",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.gitInit()
			for _, f := range []string{"a/b/c/x.go", "a/b/a", "a/x.o", "b/c", "b/a/c/keep.o", "c", "d.o", "keep.o", "7", "]", "x",
				"#a", "#b", "!a", "b ", "c  ", "{a,b}", "x.{o,go}", "ab/c", "cb/bb", "*", "-", "f.go", "f/.gitkeep", "sub/a", "sub/keep.o", "sub/d.o"} {
				w.plant(f, f)
			}
			w.plant("sub/.gitignore", "!d.o\n/a\n")
			w.plant(".git/info/exclude", "cb\n!x.o\n")
			w.write(".gitignore", patterns)
			w.sameAsGit(patterns)
		})
	}
}

// Random rules over a random tree: what git says, we say.
func TestIgnoreAsGitRandom(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	name := func() string { return pick("a", "b", "c", "ab", "a.o", "b.go", ".x", "ba") }
	rule := func() string {
		var b strings.Builder
		b.WriteString(pick("", "", "", "!"))
		b.WriteString(pick("", "", "/"))
		for n := random.IntN(3); n >= 0; n-- {
			b.WriteString(pick(name(), name(), "*", "**", "?", "a*", "*b", "*.o", "[ab]", "[!a]*", "*.*", "{a,b}"))
			if n > 0 {
				b.WriteString("/")
			}
		}
		return b.String() + pick("", "", "/") + "\n"
	}
	for range 40 {
		w := newWorld(t)
		w.gitInit()
		for range 30 {
			dir := "."
			for range random.IntN(4) {
				dir = filepath.Join(dir, name())
			}
			if os.MkdirAll(w.path(dir), 0o755) == nil { // else a file stands there
				_ = os.WriteFile(w.path(filepath.Join(dir, name())), nil, 0o644)
			}
		}
		var all []string
		for _, dir := range []string{".", "a", "b"} {
			var text strings.Builder
			for range 1 + random.IntN(4) {
				text.WriteString(rule())
			}
			if info, err := os.Stat(w.path(dir)); err == nil && info.IsDir() {
				w.write(filepath.Join(dir, ".gitignore"), text.String())
				all = append(all, dir+": "+text.String())
			}
		}
		w.sameAsGit(fmt.Sprintf("seed %d: %q", seed, all))
	}
}

// What the caller names is searched, whatever the rules above say about it.
func TestIgnoredButNamed(t *testing.T) {
	w := newWorld(t)
	for _, f := range []string{"dist/a.js", "dist/deep/b.js", "build/a.o", "build/x", "src/a.o", "src/a.go"} {
		w.plant(f, f)
	}
	w.write(".gitignore", "dist/\n/build/*\n*.o\n")
	require.Equal(t, []string{".gitignore", "ok.txt", "src/a.go"}, w.visited(".", false))
	require.Equal(t, []string{"dist/a.js", "dist/deep/b.js"}, w.visited("dist", false))
	require.Equal(t, []string{"dist/deep/b.js"}, w.visited("dist/deep", false))
	require.Equal(t, []string{"build/x"}, w.visited("build", false), "a name that is ignored everywhere stays so")
	require.Equal(t, []string{"src/a.go"}, w.visited("src", false))
	require.Equal(t, []string{"src/a.go", "src/a.o"}, w.visited("src", true))
}
