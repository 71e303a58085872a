package fileskills

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

func TestRename(t *testing.T) {
	w := newWorld(t)
	w.write("out/a", "a")
	res := w.ok("rename", args{"source": "out/a", "destination": "out/b"})
	require.Equal(t, "Renamed out/a to out/b.", res.Text)
	require.Equal(t, "out/b", res.Meta.Path)
	require.Equal(t, []string{"b"}, w.names("out"))
	// W12: the source goes, so it must be writable too.
	w.refused(CodeWriteNotAllowed, "rename", args{"source": "ok.txt", "destination": "out/c"})
	w.refused(CodeWriteNotAllowed, "rename", args{"source": "out/b", "destination": "c"})
	require.Equal(t, "ok\n", w.read("ok.txt"))
	require.Equal(t, []string{"b"}, w.names("out"))
}

func TestRenameOverwrite(t *testing.T) {
	w := newWorld(t)
	w.write("out/a", "a")
	w.write("out/b", "b")
	w.refused(CodeAlreadyExists, "rename", args{"source": "out/a", "destination": "out/b"})
	require.Equal(t, "b", w.read("out/b"))
	w.ok("rename", args{"source": "out/a", "destination": "out/b", "overwrite": true})
	require.Equal(t, "a", w.read("out/b"))
	require.Equal(t, []string{"b"}, w.names("out"))
}

// TestRenameOntoItself: the system calls the rename of two names of one file a
// success, and leaves both.
func TestRenameOntoItself(t *testing.T) {
	w := newWorld(t)
	w.write("out/a", "a")
	require.NoError(t, os.Link(w.path("out/a"), w.path("out/b")))
	for _, destination := range []string{"out/a", "out/b", "out/./a"} {
		w.refused(CodeInvalidArgument, "rename", args{"source": "out/a", "destination": destination, "overwrite": true})
		require.Equal(t, "a", w.read("out/a"))
		require.Equal(t, "a", w.read("out/b"))
	}
	require.NoError(t, os.Remove(w.path("out/b")))
	w.ok("rename", args{"source": "out/a", "destination": "out/b", "overwrite": true})
}

// TestRenameDirectory: into itself, and onto another: nothing goes before the
// move has succeeded.
func TestRenameDirectory(t *testing.T) {
	w := newWorld(t)
	for _, dir := range []string{"out/d/e", "out/empty", "out/full"} {
		require.NoError(t, os.MkdirAll(w.path(dir), 0o755))
	}
	w.write("out/d/f", "f")
	w.write("out/full/kept", "kept")
	w.write("out/file", "file")
	w.refused(CodeInvalidArgument, "rename", args{"source": "out/d", "destination": "out/d/e/d"})
	w.refused(CodeIsDirectory, "rename", args{"source": "out/d", "destination": "out/empty"})
	w.refused(CodeAlreadyExists, "rename", args{"source": "out/d", "destination": "out/full", "overwrite": true})
	w.refused(CodeNotDirectory, "rename", args{"source": "out/d", "destination": "out/file", "overwrite": true})
	e := w.refused(CodeIsDirectory, "rename", args{"source": "out/file", "destination": "out/d", "overwrite": true})
	require.Equal(t, "Give the full new name: out/d/file", e.Hint)
	require.Equal(t, "f", w.read("out/d/f"))
	require.Equal(t, "kept", w.read("out/full/kept"))
	require.Equal(t, "file", w.read("out/file"))
	w.refused(CodeWriteNotAllowed, "rename", args{"source": "out", "destination": "out2"}) // W29
}

// TestRenameMakesParents: as write_file and copy_file do; where it fails, none is
// left, and none is made where it may not be.
func TestRenameMakesParents(t *testing.T) {
	w := newWorldWith(t, pathresolver.Config{WritePaths: []string{"out", "new"}, Protect: []string{"out/kept"}})
	require.NoError(t, os.MkdirAll(w.path("out/d"), 0o755))
	w.write("out/d/f", "f")
	before := w.tree("out")
	for _, refused := range []struct {
		code                Code
		source, destination string
	}{
		{CodeNotFound, "out/none", "out/a/b/c"},
		{CodeInvalidArgument, "out/d", "out/d/x/y/d"}, // into itself
		{CodeWriteNotAllowed, "out/d/f", "elsewhere/a/f"},
		{CodePathBlocked, "out/d/f", "out/kept/a/f"},
		{CodePathOutsideRoot, "out/d/f", "../outside/a/f"},
		{CodeNotDirectory, "out/d", "out/d/f/a/b"}, // beneath a file
	} {
		w.refused(refused.code, "rename", args{"source": refused.source, "destination": refused.destination})
		require.Equal(t, before, w.tree("out"), refused.destination)
		require.NoDirExists(t, w.path("elsewhere"))
	}
	res := w.ok("rename", args{"source": "out/d/f", "destination": "out/a/b/g"})
	require.Equal(t, "Renamed out/d/f to out/a/b/g.", res.Text)
	require.Equal(t, "f", w.read("out/a/b/g"))
	w.ok("rename", args{"source": "out/a", "destination": "new/deep/a"}) // a write path that is not there yet
	require.Equal(t, "f", w.read("new/deep/a/b/g"))
	require.Equal(t, []string{"d"}, w.names("out"))
}
