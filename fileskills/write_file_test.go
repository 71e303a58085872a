package fileskills

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteFile(t *testing.T) {
	w := newWorld(t)
	res := w.ok("write_file", args{"path": "out/a/b/new.txt", "content": "one\ntwo\n"})
	require.Equal(t, "Created out/a/b/new.txt: 2 lines, 8 bytes.", res.Text)
	require.True(t, res.Meta.Created)
	require.Equal(t, "one\ntwo\n", w.read("out/a/b/new.txt"))

	res = w.ok("write_file", args{"path": "out/a/b/new.txt", "content": "one\nthree\n"})
	require.Equal(t, "Wrote out/a/b/new.txt: 2 lines, 10 bytes (1 lines added, 1 removed).", res.Text)
	require.Contains(t, res.Meta.Diff, "-two\n+three\n")
	require.Equal(t, "one\nthree\n", w.read("out/a/b/new.txt"))
	require.Equal(t, []string{"new.txt"}, w.names("out/a/b"))
}
