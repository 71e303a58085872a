package fileskills

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

func TestWriteFile(t *testing.T) {
	w := newWorld(t)
	res := w.ok("write_file", args{"path": "out/a/b/new.txt", "content": "one\ntwo\n"})
	require.Equal(t, "Created out/a/b/new.txt: 2 lines, 8 bytes.", res.Text)
	require.True(t, res.Meta.Created)
	require.Equal(t, "one\ntwo\n", w.read("out/a/b/new.txt"))

	res = w.ok("write_file", args{"path": "out/a/b/new.txt", "content": "one\nthree\n"})
	require.Equal(t, "Wrote out/a/b/new.txt: 2 lines, 10 bytes (1 line added, 1 removed).", res.Text)
	require.Contains(t, res.Meta.Diff, "-two\n+three\n")
	require.Equal(t, "one\nthree\n", w.read("out/a/b/new.txt"))
	require.Equal(t, []string{"new.txt"}, w.names("out/a/b"))
}

func TestWriteFileOverwrite(t *testing.T) {
	w := newWorld(t)
	w.write("out/f", "old\n")
	e := w.refused(CodeAlreadyExists, "write_file", args{"path": "out/f", "content": "new\n", "overwrite": false})
	require.Equal(t, "out/f exists already.", e.Message)
	require.Equal(t, "old\n", w.read("out/f"))
	w.ok("write_file", args{"path": "out/f", "content": "new\n"})
	require.Equal(t, "new\n", w.read("out/f"))
	w.ok("write_file", args{"path": "out/g", "content": "new\n", "overwrite": false})
}

func TestWriteFileDryRun(t *testing.T) {
	w := newWorld(t)
	w.write("out/f", "old\n")
	res := w.ok("write_file", args{"path": "out/f", "content": "new\n", "dry_run": true})
	require.Equal(t, "Would write out/f: 1 line, 4 bytes (1 line added, 1 removed). Nothing was written.", res.Text)
	require.Contains(t, res.Meta.Diff, "-old\n+new\n")
	res = w.ok("write_file", args{"path": "out/a/b", "content": "new\n", "dry_run": true})
	require.True(t, res.Meta.Created)
	require.Equal(t, []string{"f"}, w.names("out"))
	require.Equal(t, "old\n", w.read("out/f"))
	w.refused(CodeWriteNotAllowed, "write_file", args{"path": "f", "content": "new\n", "dry_run": true})
}

func TestWriteFileUnchanged(t *testing.T) {
	w := newWorld(t)
	w.write("out/f", "same\n")
	before, err := os.Stat(w.path("out/f"))
	require.NoError(t, err)
	res := w.ok("write_file", args{"path": "out/f", "content": "same\n"})
	require.Contains(t, res.Text, "Nothing was written.")
	after, err := os.Stat(w.path("out/f"))
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
}

func TestWriteFileExpectedHash(t *testing.T) {
	w := newWorld(t)
	w.write("out/f", "old\n")
	w.refused(CodeStaleFile, "write_file", args{"path": "out/f", "content": "new\n", "expected_hash": hashOf([]byte("other"))})
	w.refused(CodeStaleFile, "write_file", args{"path": "out/none", "content": "new\n", "expected_hash": hashOf([]byte("other"))})
	require.Equal(t, "old\n", w.read("out/f"))
	res := w.ok("write_file", args{"path": "out/f", "content": "new\n", "expected_hash": hashOf([]byte("old\n"))})
	w.ok("write_file", args{"path": "out/f", "content": "newer\n", "expected_hash": res.Meta.Hash})
}

// TestWriteFileParents: W17 of security.md, and what is beside a write path is
// not made.
func TestWriteFileParents(t *testing.T) {
	w := newWorldWith(t, pathresolver.Config{WritePaths: []string{"gen/src", "note.md"}})
	e := w.refused(CodeWriteNotAllowed, "write_file", args{"path": "gen/src/a", "content": "x"})
	require.Contains(t, e.Message, "gen/src/a")
	require.Equal(t, []string{"ok.txt", "out"}, w.names(".")) // gen was not made either
	require.NoError(t, os.Mkdir(w.path("gen"), 0o755))
	w.ok("write_file", args{"path": "gen/src/a/b/c", "content": "x"})
	w.ok("write_file", args{"path": "note.md", "content": "x"}) // a single file
	w.ok("write_file", args{"path": "note.md", "content": "y"})
	require.Equal(t, "y", w.read("note.md"))
	require.Equal(t, []string{"gen", "note.md", "ok.txt", "out"}, w.names("."))
}

// TestWriteFileWhat: what is no regular file is refused, and links are
// followed as far as they stay inside.
func TestWriteFileWhat(t *testing.T) {
	w := newWorld(t)
	w.refused(CodeIsDirectory, "write_file", args{"path": "out", "content": "x"})
	w.refused(CodeIsDirectory, "write_file", args{"path": "out/new/", "content": "x"})
	w.refused(CodeNotDirectory, "write_file", args{"path": "out/../ok.txt/x", "content": "x"})
	w.refused(CodeInvalidArgument, "write_file", args{"path": "", "content": "x"})
	w.refused(CodeInvalidArgument, "write_file", args{"path": "out/" + strings.Repeat("n", 256), "content": "x"})
	require.NoError(t, os.Symlink("target", w.path("out/dangling")))
	w.ok("write_file", args{"path": "out/dangling", "content": "x"}) // L13
	require.Equal(t, "x", w.read("out/target"))
	require.NoError(t, os.Symlink("../ok.txt", w.path("out/up")))
	w.refused(CodeWriteNotAllowed, "write_file", args{"path": "out/up", "content": "x"}) // W06
	require.Equal(t, "ok\n", w.read("ok.txt"))
}

// TestWriteFilesInNewDirectory: parallel calls make what they all need.
func TestWriteFilesInNewDirectory(t *testing.T) {
	w := newWorld(t)
	var all sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		all.Go(func() {
			_, errs[i] = w.call("write_file", args{"path": fmt.Sprintf("out/a/b/%d", i), "content": "x"})
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Len(t, w.names("out/a/b"), len(errs))
}
