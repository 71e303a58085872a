package fileskills

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMkdir(t *testing.T) {
	w := newWorld(t)
	res := w.ok("mkdir", args{"path": "out/a/b/"})
	require.True(t, res.Meta.Created)
	require.Equal(t, "out/a/b", res.Meta.Path)
	require.Empty(t, w.names("out/a/b"))
	res = w.ok("mkdir", args{"path": w.path("out/a")})
	require.False(t, res.Meta.Created)
	require.Equal(t, "out/a", res.Meta.Path)
	w.write("out/f", "f")
	w.refused(CodeNotDirectory, "mkdir", args{"path": "out/f"})
	w.refused(CodeNotDirectory, "mkdir", args{"path": "out/f/d"})
	require.Equal(t, "f", w.read("out/f"))
}

func TestDeleteFile(t *testing.T) {
	w := newWorld(t)
	w.ok("mkdir", args{"path": "out/d/empty"})
	w.write("out/d/f", "f")
	w.refused(CodeIsDirectory, "delete_file", args{"path": "out/d"})
	w.refused(CodeNotFound, "delete_file", args{"path": "out/none"})
	w.refused(CodeWriteNotAllowed, "delete_file", args{"path": "out"}) // W29
	w.refused(CodeWriteNotAllowed, "delete_file", args{"path": "ok.txt"})
	require.Equal(t, []string{"empty", "f"}, w.names("out/d"))
	w.ok("delete_file", args{"path": "out/d/empty"})
	res := w.ok("delete_file", args{"path": "out/d/f"})
	require.Equal(t, "out/d/f", res.Meta.Path)
	require.Empty(t, w.names("out/d"))
}
