package fileskills

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFileInfo(t *testing.T) {
	w := newWorld(t)
	w.write("out/a.txt", "one\r\ntwo\r\n")
	res := w.ok("file_info", args{"path": "out/a.txt"})
	for _, want := range []string{"kind: file\n", "size: 10 bytes\n", "mode: -rw-r--r--\n", "type: text/plain; charset=utf-8\n", "line ends: CRLF\n", "lines: 2\n", "writable: yes"} {
		require.Contains(t, res.Text, want)
	}
	require.Equal(t, hashOf([]byte("one\r\ntwo\r\n")), res.Meta.Hash)
	require.Equal(t, 2, *res.Meta.Lines)
	require.Equal(t, "out/a.txt", res.Meta.Path)
	require.Contains(t, w.ok("file_info", args{"path": "ok.txt"}).Text, "writable: no")
	require.Contains(t, w.ok("file_info", args{"path": "out"}).Text, "kind: directory")
	require.Contains(t, w.ok("file_info", args{"path": "out"}).Text, "entries: 1")
	require.NoError(t, os.Symlink("ok.txt", w.path("in")))
	require.NoError(t, os.Symlink("../outside/secret", w.path("leaves")))
	require.NoError(t, os.Symlink("gone", w.path("dangling")))
	res = w.ok("file_info", args{"path": "in"})
	require.Contains(t, res.Text, "link: ok.txt\nkind: file")
	require.Equal(t, "ok.txt", res.Meta.Path)
	w.refused(CodeSymlinkEscape, "file_info", args{"path": "leaves"})
	require.Contains(t, w.ok("file_info", args{"path": "dangling"}).Text, "link: gone (missing)")
	w.refused(CodeNotFound, "file_info", args{"path": "nope"})
	w.refused(CodePathOutsideRoot, "file_info", args{"path": "../outside/secret"})
}
