package fileskills

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestReadFile(t *testing.T) {
	w := newWorld(t)
	w.write("ok.txt", "one\ntwo\nthree")
	res := w.ok("read_file", args{"path": "ok.txt"})
	require.Equal(t, "     1\tone\n     2\ttwo\n     3\tthree", res.Text)
	require.Equal(t, hashOf([]byte("one\ntwo\nthree")), res.Meta.Hash)
	require.Equal(t, 3, *res.Meta.Total)
	require.Equal(t, "ok.txt", res.Meta.Path)
	require.EqualValues(t, 13, *res.Meta.Bytes)
	require.False(t, res.Meta.Truncated)
	for _, c := range []struct {
		in   args
		want string
	}{
		{args{"line_numbers": false}, "one\ntwo\nthree"},
		{args{"limit": 2}, "     1\tone\n     2\ttwo\n[lines 1-2 of 3; continue with offset=3]"},
		{args{"offset": 2, "limit": 1, "line_numbers": false}, "two\n[lines 2-2 of 3; continue with offset=3]"},
		{args{"offset": 3}, "     3\tthree\n[lines 3-3 of 3; end of file]"},
	} {
		c.in["path"] = "ok.txt"
		res := w.ok("read_file", c.in)
		require.Equal(t, c.want, res.Text, "%v", c.in)
		require.Equal(t, hashOf([]byte("one\ntwo\nthree")), res.Meta.Hash, "of the whole content")
	}
	e := w.refused(CodeInvalidArgument, "read_file", args{"path": "ok.txt", "offset": 4})
	require.Equal(t, "offset 4 is beyond the end: ok.txt has 3 lines.", e.Message)
	w.write("empty", "")
	require.Equal(t, "[the file is empty]", w.ok("read_file", args{"path": "empty"}).Text)
	e = w.refused(CodeIsDirectory, "read_file", args{"path": "out"})
	require.Contains(t, e.Hint, "list_directory")
	w.write("bin", "PK\x03\x04\x00\x00")
	e = w.refused(CodeBinaryFile, "read_file", args{"path": "bin"})
	require.Equal(t, "bin is a binary file (application/zip) of 6 bytes; it is not shown.", e.Message)
	w.refused(CodePathOutsideRoot, "read_file", args{"path": "../outside/secret"})
}

func TestReadFileEncodings(t *testing.T) {
	w := newWorld(t)
	read := func(content string) string {
		w.write("ok.txt", content)
		return w.ok("read_file", args{"path": "ok.txt", "line_numbers": false}).Text
	}
	require.Equal(t, "a\nb", read("a\r\nb\r\n"))
	require.Equal(t, "a", read("\xef\xbb\xbfa\n"))
	require.Equal(t, "aé\n[the file is UTF-16LE]", read("\xff\xfea\x00\xe9\x00"))
	require.Equal(t, "aé\n[the file is UTF-16BE]", read("\xfe\xff\x00a\x00\xe9"))
	require.Equal(t, "na\\xefve\n[bytes that are not UTF-8 are shown as \\xNN]", read("na\xefve"))
}

func TestReadFileImage(t *testing.T) {
	w := newWorld(t)
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 20000)
	w.write("p.png", png)
	res := w.ok("read_file", args{"path": "p.png"})
	require.Equal(t, "[image/png, 19.5 KiB]", res.Text)
	require.Equal(t, []Part{{MIMEType: "image/png", Data: []byte(png)}}, res.Parts)
	require.NoError(t, os.Truncate(w.path("p.png"), maxImage+1))
	w.refused(CodeTooLarge, "read_file", args{"path": "p.png"})
}

func TestReadFileBounds(t *testing.T) {
	w := newWorld(t)
	w.write("wide", strings.Repeat("ä", 5000)+"\nshort\n")
	res := w.ok("read_file", args{"path": "wide", "line_numbers": false})
	require.Equal(t, strings.Repeat("ä", 1000)+"… [8000 more bytes of this line]\nshort", res.Text)
	w.write("big", strings.Repeat(strings.Repeat("x", 99)+"\n", 3000))
	res = w.ok("read_file", args{"path": "big"})
	require.Less(t, len(res.Text), maxText+200)
	require.Contains(t, res.Text, fmt.Sprintf("[lines 1-%d of 3000; continue with offset=%d]", *res.Meta.End, *res.Meta.NextOffset))
	w.write("many", strings.Repeat("x\n", 5000))
	res = w.ok("read_file", args{"path": "many"})
	require.Contains(t, res.Text, "[lines 1-2000 of 5000; continue with offset=2001]")
}

// plainPage is a page as one would cut it of the whole text.
func plainPage(text string, offset, limit int) (page string, start, end, total int) {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	last := min(len(lines), offset-1+limit)
	if offset > len(lines) {
		return "", offset, offset - 1, len(lines)
	}
	for _, l := range lines[offset-1 : last] {
		page += strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r") + "\n"
	}
	return page, offset, last, len(lines)
}

// However a file is read, its pages are the same.
func TestPagesAsPlain(t *testing.T) {
	random := rand.New(rand.NewPCG(rand.Uint64(), 4))
	words := []string{"a", "bc", "\n", "\n", "\r\n", "\r", "é", strings.Repeat("x", 100), strings.Repeat("line\n", 3000)}
	for range 300 {
		var b strings.Builder
		for range random.IntN(30) {
			b.WriteString(words[random.IntN(len(words))])
		}
		text := b.String()
		if strings.HasSuffix(text, "\r") {
			text += "."
		}
		offset, limit := 1+random.IntN(12), 1+random.IntN(12)
		if random.IntN(3) == 0 {
			offset = 1 + random.IntN(9000)
		}
		want, start, end, total := plainPage(text, offset, limit)
		for _, r := range []io.Reader{strings.NewReader(text), iotest.HalfReader(strings.NewReader(text)), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
			p := pager{offset: offset, limit: limit}
			got, err := p.read(context.Background(), r)
			require.NoError(t, err)
			require.Equal(t, want, got.text.String(), "%q from %d, %d lines", text, offset, limit)
			require.Equal(t, []int{start, end, total}, []int{got.start, got.end, got.total}, "%q from %d, %d lines", text, offset, limit)
			require.Equal(t, end < total && end >= start, got.more)
		}
	}
}

// A caller goes through a file of any size page by page, and misses nothing.
func TestPagesAreWhole(t *testing.T) {
	w := newWorld(t)
	var want bytes.Buffer
	for i := range 10000 {
		fmt.Fprintf(&want, "line %d %s\n", i+1, strings.Repeat("z", i%150))
	}
	w.write("ok.txt", want.String())
	var got strings.Builder
	offset := 1
	for range 100 {
		res := w.ok("read_file", args{"path": "ok.txt", "offset": offset, "line_numbers": false})
		text := res.Text
		if i := strings.LastIndex(text, "\n["); i >= 0 {
			text = text[:i]
		}
		got.WriteString(text + "\n")
		if res.Meta.NextOffset == nil {
			break
		}
		offset = *res.Meta.NextOffset
	}
	require.Equal(t, want.String(), got.String())
}
