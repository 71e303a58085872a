package fileskills

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAppendFile(t *testing.T) {
	for name, c := range map[string]struct {
		old, add string
		newline  bool
		want     string
	}{
		"plain":               {"a\n", "b\n", true, "a\nb\n"},
		"no end before":       {"a", "b\n", true, "a\nb\n"},
		"no end after":        {"a\n", "b", true, "a\nb\n"},
		"as it is":            {"a", "b", false, "ab"},
		"to nothing":          {"", "b", true, "b\n"},
		"nothing":             {"a\n", "", true, "a\n"},
		"CRLF is kept":        {"a\r\nb\r\n", "c\nd", true, "a\r\nb\r\nc\r\nd\r\n"},
		"CRLF twice":          {"a\r\n", "c\r\n", true, "a\r\nc\r\n"},
		"CRLF without an end": {"a\r\nb", "c", true, "a\r\nb\r\nc\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("out/f", c.old)
			require.NoError(t, os.Chmod(w.path("out/f"), 0o741))
			w.ok("append_file", args{"path": "out/f", "content": c.add, "newline": c.newline})
			require.Equal(t, c.want, w.read("out/f"))
			info, err := os.Stat(w.path("out/f"))
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o741), info.Mode().Perm())
		})
	}
	w := newWorld(t)
	res := w.ok("append_file", args{"path": "out/d/new", "content": "a"})
	require.Equal(t, "Created out/d/new: 1 line, 2 bytes.", res.Text)
	require.Equal(t, "a\n", w.read("out/d/new"))
}

func TestAppendFileToOther(t *testing.T) {
	w := newWorld(t)
	w.write("out/bin", "a\x00b")
	w.refused(CodeBinaryFile, "append_file", args{"path": "out/bin", "content": "x"})
	require.Equal(t, "a\x00b", w.read("out/bin"))
	w.write("out/u16", "\xff\xfea\x00")
	w.refused(CodeInvalidEncoding, "append_file", args{"path": "out/u16", "content": "x"})
	require.Equal(t, "\xff\xfea\x00", w.read("out/u16"))
	// Foreign bytes elsewhere in the file stay what they are.
	w.write("out/latin", "caf\xe9\n")
	w.ok("append_file", args{"path": "out/latin", "content": "x"})
	require.Equal(t, "caf\xe9\nx\n", w.read("out/latin"))
}
