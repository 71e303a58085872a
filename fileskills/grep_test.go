package fileskills

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

func TestGrepContent(t *testing.T) {
	w := newWorld(t)
	w.plant("a/x.go", "package x\n\nfunc Foo() {}\nfunc Bar() {}\n")
	w.plant("a/y.md", "# Foo\r\nbar\r\n")
	w.plant("b.go", "no\nFoo")
	res := w.ok("grep", args{"pattern": "Foo"})
	require.Equal(t, "a/x.go:3:func Foo() {}\na/y.md:1:# Foo\nb.go:2:Foo\n[3 matches in 3 files]", res.Text)
	require.Equal(t, 3, *res.Meta.Total)
	require.False(t, res.Meta.Truncated)
	for _, c := range []struct {
		in   args
		want string
	}{
		{args{"pattern": "Foo", "include": "*.go"}, "a/x.go:3:func Foo() {}\nb.go:2:Foo\n[2 matches in 2 files]"},
		{args{"pattern": "Foo", "include": "a/*.{md,txt}"}, "a/y.md:1:# Foo\n[1 match in 1 file]"},
		{args{"pattern": "Foo", "path": "a"}, "a/x.go:3:func Foo() {}\na/y.md:1:# Foo\n[2 matches in 2 files]"},
		{args{"pattern": "Foo", "path": "a/x.go"}, "a/x.go:3:func Foo() {}\n[1 match in 1 file]"},
		{args{"pattern": "foo"}, "0 matches"},
		{args{"pattern": "foo", "ignore_case": true, "output": "files"}, "a/x.go\na/y.md\nb.go\n[3 files]"},
		{args{"pattern": "[Bb]ar|Foo", "output": "count"}, "a/x.go:2\na/y.md:2\nb.go:1\n[3 files]"},
		{args{"pattern": "Foo()", "literal": true}, "a/x.go:3:func Foo() {}\n[1 match in 1 file]"},
		{args{"pattern": "bar$"}, "a/y.md:2:bar\n[1 match in 1 file]"},
		{args{"pattern": "^$", "path": "a"}, "a/x.go:2:\n[1 match in 1 file]"},
		{args{"pattern": `\A#.*\z`}, "a/y.md:1:# Foo\n[1 match in 1 file]"},
		{args{"pattern": "Foo", "context": 1, "path": "a/x.go"}, "a/x.go-2-\na/x.go:3:func Foo() {}\na/x.go-4-func Bar() {}\n[1 match in 1 file]"},
		{args{"pattern": `x\s+func`, "multiline": true}, "a/x.go:1:package x\na/x.go:2:\na/x.go:3:func Foo() {}\n[1 match in 1 file]"},
		{args{"pattern": "Foo\nbar", "multiline": true, "literal": true}, "a/y.md:1:# Foo\na/y.md:2:bar\n[1 match in 1 file]"},
		{args{"pattern": "[^x]Foo"}, "a/x.go:3:func Foo() {}\na/y.md:1:# Foo\n[2 matches in 2 files]"},
		{args{"pattern": "Foo", "max_matches": 2}, "a/x.go:3:func Foo() {}\na/y.md:1:# Foo\n[matches 1-2; more follow: continue with offset=2]"},
		{args{"pattern": "Foo", "max_matches": 2, "offset": 2}, "b.go:2:Foo\n[3 matches in 3 files]"},
		{args{"pattern": "Foo", "max_matches": 2, "output": "files"}, "a/x.go\na/y.md\n[files 1-2; more follow: continue with offset=2]"},
		{args{"pattern": "Foo", "offset": 9}, "[3 matches in 3 files]"},
	} {
		require.Equal(t, c.want, w.ok("grep", c.in).Text, "%v", c.in)
	}
	require.Equal(t, "a/x.go", w.ok("search_text", args{"pattern": "Foo", "path": "a/x.go"}).Meta.Path, "the alias")
}

// An include that names no file is a mistake, and not a search without matches.
func TestGrepIncludeThatNamesNothing(t *testing.T) {
	w := newWorld(t)
	w.write(".gitignore", "*.log\nbuild/\n")
	w.plant("src/a.go", "needle\n")
	w.plant("src/a.log", "needle\n")
	w.plant("build/x.ts", "needle\n")
	w.plant("img/a.bin", "\x00needle\n")
	for _, c := range []struct {
		in   args
		want string
	}{
		{args{"include": "*.rs"}, "0 matches: include *.rs names no file in . (1 ignored directory not searched; include_ignored=true)"},
		{args{"include": "src/*.go", "path": "src"}, "0 matches: include src/*.go names no file in src; it is relative to path"},
		{args{"include": "*.go,*.ts", "path": "src", "output": "files"}, "0 matches: include *.go,*.ts names no file in src"},
		// There is one, and it was searched, or why not is said:
		{args{"include": "*.go", "pattern": "other"}, "0 matches (1 ignored directory not searched; include_ignored=true)"},
		{args{"include": "*.log", "path": "src"}, "0 matches (1 ignored file not searched; include_ignored=true)"},
		{args{"include": "*.bin", "path": "img"}, "0 matches (1 binary file not searched)"},
		{args{"path": "out"}, "0 matches"},
	} {
		if c.in["pattern"] == nil {
			c.in["pattern"] = "needle"
		}
		require.Equal(t, c.want, w.ok("grep", c.in).Text, "%v", c.in)
	}
	require.Equal(t, "src/a.go:1:needle\n[1 match in 1 file]", w.ok("grep", args{"pattern": "needle", "include": "*.go", "path": "src"}).Text)
}

func TestGrepRefuses(t *testing.T) {
	w := newWorld(t)
	e := w.refused(CodeInvalidRegex, "grep", args{"pattern": "(?<=a)b"})
	require.Contains(t, e.Hint, "look-around")
	require.NotContains(t, e.Message, "changed")
	w.refused(CodeInvalidRegex, "grep", args{"pattern": "("})
	w.refused(CodeInvalidRegex, "grep", args{"pattern": "((a{100}){100}){100}"})
	w.refused(CodeInvalidArgument, "grep", args{"pattern": "a\nb"})
	w.refused(CodeInvalidArgument, "grep", args{"pattern": "a", "include": "["})
	w.refused(CodePathOutsideRoot, "grep", args{"pattern": "a", "include": "/etc/*"})
	w.refused(CodePathOutsideRoot, "grep", args{"pattern": "a", "include": "../outside/*"})
	w.refused(CodePathOutsideRoot, "grep", args{"pattern": "a", "path": "../outside"})
	e = w.refused(CodeNotFound, "grep", args{"pattern": "a", "path": "ok.tx"})
	require.Contains(t, e.Hint, "ok.txt")
}

// What was not searched is counted, and searched when it is named.
func TestGrepCountsWhatItLeavesOut(t *testing.T) {
	w := newWorld(t)
	w.write(".gitignore", "*.log\nnode_modules/\n")
	w.plant("x.log", "needle\n")
	w.plant("node_modules/m/index.js", "needle\n")
	w.plant("img.bin", "\x00needle\n")
	w.plant(".git/config", "needle\n")
	require.NoError(t, os.Symlink("ok.txt", w.path("link")))
	require.NoError(t, os.Truncate(w.path("ok.txt"), maxScanFile+1))
	w.write("ok.txt", strings.Repeat("x\n", scanWindow))
	require.NoError(t, os.Truncate(w.path("ok.txt"), maxScanFile+1))
	res := w.ok("grep", args{"pattern": "needle"})
	require.Equal(t, "0 matches (1 ignored file, 1 ignored directory, 1 binary file, 1 file that is too large, 1 link not searched; include_ignored=true)", res.Text)
	require.Contains(t, w.ok("grep", args{"pattern": "needle", "include_ignored": true}).Text, "node_modules/m/index.js:1:needle\nx.log:1:needle\n[2 matches")
	require.Contains(t, w.ok("grep", args{"pattern": "needle", "path": "x.log"}).Text, "x.log:1:needle")
	require.Contains(t, w.ok("grep", args{"pattern": "needle", "path": "node_modules"}).Text, "index.js:1:needle")
	require.Contains(t, w.ok("grep", args{"pattern": "needle", "path": ".git"}).Text, ".git/config:1:needle")
	require.Equal(t, "0 matches (1 binary file not searched)", w.ok("grep", args{"pattern": "needle", "path": "img.bin"}).Text)
	require.Contains(t, w.ok("grep", args{"pattern": "x", "path": "ok.txt", "max_matches": 1}).Text, "ok.txt:1:x\n[matches 1-1; more", "named, it is searched whatever its size")
}

// What is hidden is not found, counted or named.
func TestSearchHides(t *testing.T) {
	w := newWorldWith(t, pathresolver.Config{Hide: []string{"**/.env", "secrets"}})
	w.plant("secrets/deep/key", "needle\n")
	w.plant("a/.env", "needle\n")
	w.plant("a/.env2", "needle\n")
	require.Equal(t, "a/.env2:1:needle\n[1 match in 1 file]", w.ok("grep", args{"pattern": "needle"}).Text)
	require.Equal(t, "a/.env2", w.ok("glob", args{"pattern": "**/.env*"}).Text)
	require.Equal(t, "0 matches for secrets/** in .", w.ok("glob", args{"pattern": "secrets/**"}).Text)
	w.refused(CodePathBlocked, "grep", args{"pattern": "needle", "path": "secrets"})
	w.refused(CodePathBlocked, "grep", args{"pattern": "needle", "path": "a/.env"})
	require.Contains(t, w.read("a/.env"), "needle", "without the guard it is found")
}

func TestGrepShowsForeignBytes(t *testing.T) {
	w := newWorld(t)
	w.write("latin1", "na\xefve needle \x1b[31m\t!\n")
	require.Contains(t, w.ok("grep", args{"pattern": "needle"}).Text, `latin1:1:na\xefve needle \x1b[31m`+"\t!")
	w.write("long", strings.Repeat("ä", 5000)+"needle"+strings.Repeat("b", 9000)+"\n")
	res := w.ok("grep", args{"pattern": "needle", "path": "long"})
	require.Less(t, len(res.Text), maxLine+200)
	require.Contains(t, res.Text, "äneedleb")
	require.Contains(t, res.Text, "more bytes of this line]")
	w.write("foreign", strings.Repeat("\x80", 9000)+"needle")
	require.Contains(t, w.ok("grep", args{"pattern": "needle", "path": "foreign"}).Text, `\x80\x80needle`)
	var wide bytes.Buffer
	for _, u := range utf16.Encode([]rune("\ufeffeins\r\nzwei needle\r\n")) {
		wide.WriteByte(byte(u))
		wide.WriteByte(byte(u >> 8))
	}
	w.write("wide", wide.String())
	require.Contains(t, w.ok("grep", args{"pattern": "needle$", "path": "wide"}).Text, "wide:2:zwei needle\n")
	w.write("mark", "\xef\xbb\xbfneedle\n")
	require.Contains(t, w.ok("grep", args{"pattern": "^needle", "path": "mark"}).Text, "mark:1:needle\n")
}

// Pages are stable: together they are the whole, whatever their size.
func TestGrepPages(t *testing.T) {
	w := newWorld(t)
	for i := range 150 {
		w.plant(fmt.Sprintf("d%d/f%d", i%7, i), strings.Repeat("x\n", i%4)+"hit\nhit\n"+strings.Repeat("y\n", i%3)+"hit\n")
	}
	whole := strings.TrimSuffix(w.ok("grep", args{"pattern": "hit", "max_matches": 1000}).Text, "\n[450 matches in 150 files]")
	for _, size := range []int{1, 7, 100, 449, 450} {
		var all []string
		offset := 0
		for range 1000 {
			res := w.ok("grep", args{"pattern": "hit", "max_matches": size, "offset": offset})
			lines := strings.Split(res.Text, "\n")
			all = append(all, lines[:len(lines)-1]...)
			if res.Meta.NextOffset == nil {
				break
			}
			offset = *res.Meta.NextOffset
		}
		require.Equal(t, whole, strings.Join(all, "\n"), "pages of %d", size)
	}
}

// A page that is full ends between two matches.
func TestGrepFullPage(t *testing.T) {
	w := newWorld(t)
	w.write("ok.txt", strings.Repeat("hit "+strings.Repeat("z", 1500)+"\n", 200))
	seen, offset := 0, 0
	for range 20 {
		res := w.ok("grep", args{"pattern": "hit", "offset": offset, "max_matches": 1000})
		require.Less(t, len(res.Text), maxText+maxLine+1000)
		seen += strings.Count(res.Text, "hit ")
		if res.Meta.NextOffset == nil {
			break
		}
		offset = *res.Meta.NextOffset
	}
	require.Equal(t, 200, seen)
}

// plainGrep is grep as one would write it: the lines of a text that match.
func plainGrep(re *regexp.Regexp, text string) (lines []int) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if text != "" && re.MatchString(line) {
			lines = append(lines, i+1)
		}
	}
	return lines
}

// scanLines is ours, with a reader that gives as it pleases.
func scanLines(t testing.TB, p *linePattern, r io.Reader, window int) (lines []int) {
	s := &scanner{pattern: p, buf: make([]byte, window)}
	found, err := s.run(context.Background(), readerFile{r}, scanWant{take: 1 << 30, named: true})
	require.NoError(t, err)
	for _, h := range found.hits {
		lines = append(lines, h.line)
	}
	require.Len(t, lines, found.matches)
	return lines
}

type readerFile struct{ io.Reader }

func (readerFile) Close() error                      { return nil }
func (readerFile) Seek(int64, int) (int64, error)    { return 0, os.ErrInvalid }
func (readerFile) ReadAt([]byte, int64) (int, error) { return 0, os.ErrInvalid }
func (readerFile) Stat() (os.FileInfo, error)        { return nil, os.ErrInvalid }
func (readerFile) Place() string                     { return "f" }

// However a text is cut into windows, and whatever is looked for first, the
// lines are those that the expression matches one by one.
func TestGrepAsPlain(t *testing.T) {
	patterns := []string{"a", "ab", "a|b", "foo|bar|ba[rz]", "^a", "a$", "^$", "^", "$", `\bab\b`, "a.*b", "a[^b]*b", `\s`, `a\s*$`, "(?i)AB", "(?i)sKip|ab", "(?i)foo|bar",
		"a+b", "(ab){2}", "x*", "[a-z]+b", "(?s)a.b", `\Aa`, `a\z`, `[^a]`, "ß", "(?i)ß", "(?:foo)?bar", `\d+-\d+`, "é|a", "(?i)k"}
	random := rand.New(rand.NewPCG(rand.Uint64(), 2))
	words := []string{"a", "b", "ab", "foo", "bar", "baz", " ", "\t", "\n", "\n", "\r\n", "skip", "SKIP", "\u212a", "é", "ß", "ẞ", "1-2", "-", "AB", "x", "\xff", "aab", "\r"}
	for range 300 {
		var b strings.Builder
		for range random.IntN(60) {
			b.WriteString(words[random.IntN(len(words))])
		}
		text := b.String()
		for _, expr := range patterns {
			p, err := newLinePattern(expr, grepFlags{})
			require.NoError(t, err, expr)
			want := plainGrep(regexp.MustCompile(expr), text)
			for _, window := range []int{16, 37, scanWindow} {
				got := scanLines(t, p, strings.NewReader(text), window)
				require.Equal(t, want, got, "%q on %q, window %d", expr, text, window)
			}
			require.Equal(t, want, scanLines(t, p, iotest.OneByteReader(strings.NewReader(text)), 16), "%q on %q", expr, text)
		}
	}
}

// Context stays whole over the borders of windows.
func TestGrepContextOverWindows(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		b.WriteString("line " + strconv.Itoa(i+1))
		if i%17 == 5 || i%17 == 7 || i == 199 {
			b.WriteString(" hit")
		}
		b.WriteByte('\n')
	}
	p, err := newLinePattern("hit", grepFlags{})
	require.NoError(t, err)
	scan := func(window, skip, take int) []hit {
		s := &scanner{pattern: p, buf: make([]byte, window)}
		found, err := s.run(context.Background(), readerFile{strings.NewReader(b.String())},
			scanWant{skip: skip, take: take, stop: skip + take, context: 3, named: true})
		require.NoError(t, err)
		return found.hits
	}
	for _, page := range [][2]int{{0, 100}, {0, 1}, {3, 4}, {20, 5}, {23, 9}} {
		want := scan(1<<20, page[0], page[1])
		require.NotEmpty(t, want)
		for i, h := range want {
			require.True(t, strings.HasPrefix(h.text, fmt.Sprintf("line %d", h.line)))
			require.True(t, i == 0 || h.line > want[i-1].line)
		}
		for _, window := range []int{16, 50, 64, 333} {
			require.Equal(t, want, scan(window, page[0], page[1]), "page %v, window %d", page, window)
		}
	}
}

func TestGrepProgress(t *testing.T) {
	w := newWorld(t)
	for i := range 200 {
		w.plant(fmt.Sprintf("d%d/f", i), "x\n")
	}
	var reports []Progress
	ctx := WithProgress(context.Background(), func(p Progress) { reports = append(reports, p) })
	_, err := w.set.Call(ctx, "grep", []byte(`{"pattern":"needle"}`))
	require.NoError(t, err)
	require.NotEmpty(t, reports)
}
