package fileskills

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var background = context.Background()

// mustText reads text that is well-formed.
func mustText(t require.TestingT, raw string) *text {
	got, err := readText(background, "f", []byte(raw))
	require.NoError(t, err)
	return got
}

func TestEncodings(t *testing.T) {
	const said = "one\r\ntwo 🦊\n"
	utf16le := "\xff\xfeo\x00n\x00e\x00\r\x00\n\x00t\x00w\x00o\x00 \x00\x3e\xd8\x8a\xdd\n\x00"
	utf16be := "\xfe\xff\x00o\x00n\x00e\x00\r\x00\n\x00t\x00w\x00o\x00 \xd8\x3e\xdd\x8a\x00\n"
	for raw, enc := range map[string]encoding{
		said: encUTF8, "\xef\xbb\xbf" + said: encUTF8Mark, utf16le: encUTF16LE, utf16be: encUTF16BE,
	} {
		got := mustText(t, raw)
		require.Equal(t, enc, got.enc)
		require.Equal(t, said, string(got.src))
		back, err := encodeText(background, got.enc, got.src)
		require.NoError(t, err)
		require.Equal(t, raw, string(back))
		require.Contains(t, string(marks[enc]), raw[:len(marks[enc])])
	}
}

// Inserted lines take the ending of where they are put; the rest stays.
func TestLineEndings(t *testing.T) {
	for _, c := range []struct{ file, old, new, want string }{
		{"a\r\nb\r\nc\r\n", "b", "x\ny", "a\r\nx\r\ny\r\nc\r\n"},
		{"a\r\nb\r\nc\r\n", "a\nb\n", "x\n", "x\r\nc\r\n"},
		{"a\r\nb\r\n", "a\r\nb\r\n", "a\r\nc\r\n", "a\r\nc\r\n"}, // the caller may say CRLF
		{"a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"},
		{"a\r\nb\nc\r\nd\n", "b", "x\ny", "a\r\nx\ny\nc\r\nd\n"},
		{"a\r\nb\nc\r\nd\n", "c", "x\ny", "a\r\nb\nx\r\ny\r\nd\n"},
		{"a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nb\nZ\nd", "a\r\nb\nZ\r\nd\n"},
		{"a\r\nb\nc\r\nd", "d", "x\ny", "a\r\nb\nc\r\nx\r\ny"},
		{"a\r\nb\n", "b\n", "b\nx\n", "a\r\nb\nx\n"},
		{"a\nb\r\n", "b\n", "b\nx\n", "a\nb\r\nx\r\n"},
		{"a\rb\n", "b", "x\ny", "a\rx\ny\n"},
		{"a\r\r\nb\r\n", "b", "x\ny", "a\r\r\nx\r\ny\r\n"},
		{"one", "one", "x\ny", "x\ny"},
	} {
		got := mustText(t, c.file)
		edits, err := got.swaps(background, []swap{{old: c.old, new: c.new}}, func(int) string { return "" })
		require.NoError(t, err, "%q", c)
		out, err := got.apply(background, edits)
		require.NoError(t, err)
		require.Equal(t, c.want, string(out), "%q", c)
	}
}

// checkApply compares apply with what is meant, by other means: bytes outside
// the edit are those of the file, and what a reader sees is the replaced text.
func checkApply(t require.TestingT, raw []byte, start, end int, with string) {
	got, err := readText(background, "f", bytes.Clone(raw))
	var e *Error
	if errors.As(err, &e) {
		require.Contains(t, []Code{CodeBinaryFile, CodeInvalidEncoding}, e.Code)
		return
	}
	require.NoError(t, err)
	start, end = start%(len(got.lf)+1), end%(len(got.lf)+1)
	if start > end {
		start, end = end, start
	}
	for start > 0 && start < len(got.lf) && !utf8.RuneStart(got.lf[start]) {
		start--
	}
	for end < len(got.lf) && !utf8.RuneStart(got.lf[end]) {
		end++
	}
	with = strings.ToValidUTF8(strings.ReplaceAll(with, "\r", ""), "")
	out, err := got.apply(background, []edit{{start, end, with}})
	require.NoError(t, err)

	// The map of offsets, the slow way: each line feed before may have been two bytes.
	source := func(lf int) int {
		for src := range len(got.src) + 1 {
			if strings.ReplaceAll(string(got.src[:src]), "\r\n", "\n") == string(got.lf[:lf]) && !bytes.HasSuffix(got.src[:src], []byte("\r")) {
				return src
			}
			if src > 0 && src < len(got.src) && got.src[src-1] == '\r' && got.src[src] != '\n' && strings.ReplaceAll(string(got.src[:src]), "\r\n", "\n") == string(got.lf[:lf]) {
				return src
			}
		}
		return len(got.src)
	}
	encode := func(text []byte) []byte {
		b, err := encodeText(background, got.enc, text)
		require.NoError(t, err)
		return b[len(marks[got.enc]):]
	}
	head, tail := encode(got.src[:source(start)]), encode(got.src[source(end):])
	body := out[len(marks[got.enc]):]
	require.Equal(t, marks[got.enc], append([]byte(nil), out[:len(marks[got.enc])]...))
	require.True(t, bytes.HasPrefix(body, head), "before: %q -> %q [%d:%d]=%q", raw, out, start, end, with)
	require.True(t, bytes.HasSuffix(body, tail), "behind: %q -> %q [%d:%d]=%q", raw, out, start, end, with)
	require.GreaterOrEqual(t, len(body), len(head)+len(tail))
	between := body[len(head) : len(body)-len(tail)]
	again, err := readText(background, "f", append(bytes.Clone(marks[got.enc]), between...))
	if errors.As(err, &e) && e.Code == CodeBinaryFile {
		return // with holds a NUL, which swaps refuses
	}
	require.NoError(t, err)
	require.Equal(t, with, string(again.lf), "%q -> %q [%d:%d]", raw, out, start, end)
}

func FuzzTextEngine(f *testing.F) {
	f.Add([]byte("a\r\nb\nc\r\n"), uint(2), uint(3), "x\ny")
	f.Add([]byte("\xef\xbb\xbfa\r\nb"), uint(0), uint(9), "")
	f.Add([]byte("\xff\xfea\x00\r\x00\n\x00b\x00"), uint(1), uint(2), "é\n")
	f.Add([]byte("\r\r\n\n\r"), uint(1), uint(2), "\n")
	f.Fuzz(func(t *testing.T, raw []byte, start, end uint, with string) {
		if len(raw) > 300 { // the check is cubic
			return
		}
		checkApply(t, raw, int(start%(1<<20)), int(end%(1<<20)), with)
	})
}

// Any edits, applied, are what the diff says.
func TestDiffIsTrue(t *testing.T) {
	dir := t.TempDir()
	_, err := exec.LookPath("patch")
	require.NoError(t, err, "patch(1) is needed: see .ci/deps")
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "d d\n"}), 0, 60).Draw(t, "lines")
		file := strings.Join(lines, "") + rapid.SampledFrom([]string{"", "end"}).Draw(t, "end")
		var edits []edit
		for at := 0; at <= len(file); {
			start := at + rapid.IntRange(0, 30).Draw(t, "start")
			end := start + rapid.IntRange(0, 12).Draw(t, "len")
			if end > len(file) {
				break
			}
			edits = append(edits, edit{start, end, rapid.SampledFrom([]string{"", "x", "a\n", "x\ny\n", "\n"}).Draw(t, "new")})
			at = end + 1
		}
		got := mustText(t, file)
		out, err := got.apply(background, edits)
		require.NoError(t, err)
		diff, added, removed := diffEdits("f", got.lf, edits)
		if strings.Contains(diff, "[diff cut") {
			return
		}
		plus, minus := 0, 0
		for i, line := range strings.Split(diff, "\n") {
			switch {
			case i < 2:
			case strings.HasPrefix(line, "+"):
				plus++
			case strings.HasPrefix(line, "-"):
				minus++
			}
		}
		require.Equal(t, []int{plus, minus}, []int{added, removed}, "%s", diff)
		patched := file
		if diff != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte(file), 0o600))
			cmd := exec.Command("patch", "-s", "-p1", "-F0", "-d", dir)
			cmd.Stdin = strings.NewReader(diff)
			said, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s\n%s\n%q", said, diff, file)
			raw, err := os.ReadFile(filepath.Join(dir, "f"))
			if !errors.Is(err, os.ErrNotExist) { // patch removes what became empty
				require.NoError(t, err)
			}
			patched = string(raw)
		}
		require.Equal(t, string(out), patched, "%s", diff)
	})
}

func TestDiffIsBounded(t *testing.T) {
	before := bytes.Repeat([]byte("some line of text\n"), 200_000)
	after := bytes.ReplaceAll(before, []byte("line"), []byte("LINE"))
	diff, added, removed := diffTexts("f\n+++ b/evil", before, after)
	require.Equal(t, []int{200_000, 200_000}, []int{added, removed})
	require.Less(t, len(diff), maxDiffBytes+2*maxDiffLine)
	require.Contains(t, diff, "[diff cut; in all 200000 lines added, 200000 removed]")
	require.True(t, strings.HasPrefix(diff, `--- a/f\n+++ b/evil`))
	long := strings.Repeat("é", 1<<20)
	diff, _, _ = diffTexts("f", []byte(long), []byte(long+"x"))
	require.Less(t, len(diff), 2*maxDiffLine+200)
	require.True(t, utf8.ValidString(diff))
}
