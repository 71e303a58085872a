package fileskills

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// withPatch enables apply_patch, with its journal beside the root.
func withPatch(t *testing.T) func(*Config) {
	state := filepath.Join(t.TempDir(), "state")
	return func(c *Config) { c.Enable, c.StateDir = []string{"apply_patch"}, state }
}

func patchOf(lines ...string) args {
	return args{"patch": "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"}
}

func TestApplyPatch(t *testing.T) {
	w := newWorld(t, withPatch(t))
	w.write("out/a.py", "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 1\n")
	w.write("out/gone.txt", "bye\n")
	w.write("out/run.sh", "#!/bin/sh\necho old\n")
	require.NoError(t, os.Chmod(w.path("out/run.sh"), 0o750))
	res := w.ok("apply_patch", patchOf(
		"*** Add File: out/new/deep/n.txt", "+one", "+", "+two",
		"",
		"*** Update File: out/a.py", "@@ class B:", "@@     def f(self):", "-        return 1", "+        return 2",
		"@@     def g(self):", "+        # counted", "         return 1", "*** End of File",
		"*** Delete File: out/gone.txt",
		"*** Update File: out/run.sh", "*** Move to: out/bin/run", "@@", " #!/bin/sh", "-echo old", "+echo new",
	))
	require.Equal(t, "Added out/new/deep/n.txt (3 lines)\nUpdated out/a.py (2 lines added, 1 removed)\nDeleted out/gone.txt\nMoved out/run.sh to out/bin/run (1 line added, 1 removed)", res.Text)
	require.Equal(t, "one\n\ntwo\n", w.read("out/new/deep/n.txt"))
	require.Equal(t, "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 2\n\n    def g(self):\n        # counted\n        return 1\n", w.read("out/a.py"))
	require.Equal(t, "#!/bin/sh\necho new\n", w.read("out/bin/run"))
	info, err := os.Stat(w.path("out/bin/run"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o750), info.Mode().Perm())
	require.Equal(t, []string{"a.py", "bin", "new"}, w.names("out"))
	w.noJournal()
}

// noJournal wants nothing left in the journal.
func (w *world) noJournal() {
	w.t.Helper()
	entries, err := os.ReadDir(w.set.journal.dir)
	require.NoError(w.t, err)
	for _, e := range entries {
		require.Equal(w.t, "lock", e.Name())
	}
}

// tree is every file beneath a directory of the world, with its content.
func (w *world) tree(dir string) map[string]string {
	w.t.Helper()
	found := map[string]string{}
	require.NoError(w.t, filepath.WalkDir(w.path(dir), func(path string, d os.DirEntry, err error) error {
		if err != nil || path == w.path(dir) {
			return err
		}
		rel, err := filepath.Rel(w.root, path)
		if err != nil || d.IsDir() {
			found[rel+"/"] = ""
			return err
		}
		raw, err := os.ReadFile(path)
		found[rel] = string(raw)
		return err
	}))
	return found
}

func TestApplyPatchHunks(t *testing.T) {
	for _, c := range []struct {
		name, file string
		hunks      []string
		want       string
	}{
		{"no @@ on the first hunk", "a\nb\n", []string{" a", "-b", "+c"}, "a\nc\n"},
		{"an empty line is context", "a\n\nb\n", []string{"@@", " a", "", "-b", "+c"}, "a\n\nc\n"},
		{"empty lines before a marker are not", "a\nb\n", []string{"@@", "-a", "+x", "", "", "@@", "-b", "+y"}, "x\ny\n"},
		{"lines go", "a\nb\nc\n", []string{"@@", " a", "-b"}, "a\nc\n"},
		{"the only line goes", "a\n", []string{"@@", "-a"}, ""},
		{"no last line feed, kept", "a\nb", []string{"@@", "-b", "+c"}, "a\nc"},
		{"no last line feed, last lines go", "a\nb\nc", []string{"@@", "-b", "@@", "-c"}, "a\n"},
		{"no last line feed, last line goes", "a\nb", []string{"@@", "-b"}, "a"},
		{"added at the end", "a\nb\n", []string{"@@", "+c", "*** End of File"}, "a\nb\nc\n"},
		{"added at an end without line feed", "a\nb", []string{"@@", "+c", "*** End of File"}, "a\nb\nc"},
		{"added to an empty file", "", []string{"@@", "+c"}, "c\n"},
		{"added, and nothing says where", "a\nb\n", []string{"@@", "+c", "+d"}, "a\nb\nc\nd\n"},
		{"added without @@", "a\nb", []string{"+c"}, "a\nb\nc"},
		{"added after another hunk", "a\nb\n", []string{"@@", "-a", "+x", "@@", "+c"}, "x\nb\nc\n"},
		{"an empty line before a context line with asterisks", "a\n\n*** b\nc\n", []string{"@@", " a", "", " *** b", "-c", "+d"}, "a\n\n*** b\nd\n"},
		{"added below an @@ line", "a\nb\n", []string{"@@ a", "+c"}, "a\nc\nb\n"},
		{"the end decides", "x\ny\nx\n", []string{"@@", "-x", "+z", "*** End of File"}, "x\ny\nz\n"},
		{"the order decides", "x\nm\nx\n", []string{"@@", "-m", "+n", "@@", "-x", "+z"}, "x\nn\nz\n"},
		{"the block decides", "f() {\n  x\n}\ng() {\n  x\n}\nh() {\n  x\n}\n", []string{"@@ g() {", "-  x", "+  z"}, "f() {\n  x\n}\ng() {\n  z\n}\nh() {\n  x\n}\n"},
		{"beyond the block", "# A\n\nx\n\n# B\n", []string{"@@ # A", "-x", "+z"}, "# A\n\nz\n\n# B\n"},
		{"@@ line without its indent", "  f()\n    x\n", []string{"@@ f()", "-    x", "+    z"}, "  f()\n    z\n"},
		{"CRLF stays", "a\r\nb\r\nc\r\n", []string{"@@", "-b", "+x", "+y"}, "a\r\nx\r\ny\r\nc\r\n"},
		{"mixed stays mixed", "a\r\nb\nc\r\nd\n", []string{"@@", " a", " b", "-c", "+x", " d"}, "a\r\nb\nx\r\nd\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, withPatch(t))
			w.write("out/f", c.file)
			w.ok("apply_patch", patchOf(append([]string{"*** Update File: out/f"}, c.hunks...)...))
			require.Equal(t, c.want, w.read("out/f"))
		})
	}
}

// What OpenAI's own apply_patch accepts around a patch is accepted: the here-document
// of a shell, and white space around lines of asterisks.
func TestApplyPatchFrames(t *testing.T) {
	sections := []string{"*** Add File: out/n", "+one", "*** Delete File: out/b", "*** Update File: out/c", "*** Move to: out/d", "@@", "-x", "+y", "*** End of File"}
	plain := strings.Join(append(append([]string{"*** Begin Patch"}, sections...), "*** End Patch"), "\n")
	padded := " *** Begin Patch \n  *** Add File: out/n\t\n+one\n \n\t*** Delete File: out/b  \n  *** Update File: out/c \n*** Move to: out/d \n@@\n-x\n+y\n*** End of File \n  *** End Patch  "
	for name, patch := range map[string]string{
		"plain": plain, "space around": "\n \n" + plain + "\n \n", "padded": padded,
		"here-document": "<<EOF\n" + plain + "\nEOF", "quoted": "<<'EOF'\n" + plain + "\nEOF\n", "quoted twice": "<<\"EOF\"\n" + padded + "\nEOF\n\n",
		"CRLF": "<<'EOF'\r\n" + strings.ReplaceAll(plain, "\n", "\r\n") + "\r\nEOF\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withPatch(t))
			w.write("out/b", "two\n")
			w.write("out/c", "x\n")
			w.ok("apply_patch", args{"patch": patch})
			require.Equal(t, map[string]string{"out/n": "one\n", "out/d": "y\n"}, w.tree("out"))
		})
	}
	// Neither half of a here-document alone, nor one of anything else.
	w := newWorld(t, withPatch(t))
	for _, patch := range []string{"<<EOF\n" + plain, plain + "\nEOF", "<<EOF\nEOF", "<<EOF", "<<END\n" + plain + "\nEND", "rm x <<EOF\n" + plain + "\nEOF", "<<EOF\nx\n" + plain + "\nEOF"} {
		require.Contains(t, w.refused(CodeInvalidArgument, "apply_patch", args{"patch": patch}).Message, "patch line ")
	}
}

// One failing section leaves every file as it was.
func TestApplyPatchRefuses(t *testing.T) {
	good := []string{"*** Update File: out/a", "@@", "-one", "+ONE", "*** Add File: out/d/new", "+new", "*** Delete File: out/b"}
	for _, c := range []struct {
		name string
		bad  []string
		code Code
		text string
	}{
		{"ambiguous", []string{"*** Update File: out/c", "@@", "-x", "+y"}, CodeMultipleMatches, "hunk 1 (patch line 10) matches 2 places (lines 1, 3) of out/c. Nothing was changed."},
		{"ambiguous @@ line", []string{"*** Update File: out/c", "@@ x", "+y"}, CodeMultipleMatches, "the @@ line matches 2 places (lines 1, 3)"},
		{"above what was added at the end", []string{"*** Update File: out/c", "@@", "+y", "@@", "-middle", "+z"}, CodeNoMatch, "above the hunk before"},
		{"a context line like a section", []string{"*** Update File: out/c", "@@", "-middle", " *** Delete File: out/b2"}, CodeNoMatch, "was not found in out/c"},
		{"an empty line in a new file", []string{"*** Add File: out/n", "+a", "", "+b"}, CodeInvalidArgument, "patch line 11: every line of a new file begins with +"},
		{"no match", []string{"*** Update File: out/c", "@@", "-middel", "+y"}, CodeNoMatch, "Nearest text, from line 2"},
		{"no @@ line", []string{"*** Update File: out/c", "@@ nope", "-x", "+y"}, CodeNoMatch, `no line of out/c is "@@ nope"`},
		{"line numbers", []string{"*** Update File: out/c", "@@ -1,2 +1,2 @@", "-x", "+y"}, CodeNoMatch, "This format has no line numbers"},
		{"not the end", []string{"*** Update File: out/c", "@@", "-middle", "+y", "*** End of File"}, CodeNoMatch, "does not end out/c"},
		{"wrong order", []string{"*** Update File: out/c", "@@", " x", "-middle", "+y", " x", "@@", "-x", "+z"}, CodeNoMatch, "above the hunk before"},
		{"part of a line", []string{"*** Update File: out/c", "@@", "-midd", "+y"}, CodeNoMatch, "was not found in out/c"},
		{"missing", []string{"*** Update File: out/nope", "@@", "-x", "+y"}, CodeNotFound, "out/nope does not exist"},
		{"there already", []string{"*** Add File: out/c", "+y"}, CodeAlreadyExists, "out/c exists already"},
		{"target there already", []string{"*** Update File: out/c", "*** Move to: ok.txt"}, CodeWriteNotAllowed, "ok.txt"},
		{"move over a file", []string{"*** Update File: out/c", "*** Move to: out/c2", "*** Add File: out/c2", "+x"}, CodeInvalidArgument, "names out/c2 twice"},
		{"delete what is not there", []string{"*** Delete File: out/nope"}, CodeNotFound, "does not exist"},
		{"delete a link", []string{"*** Delete File: out/link"}, CodeNotRegularFile, "symbolic link"},
		{"delete a directory", []string{"*** Delete File: out/dir"}, CodeIsDirectory, "is a directory"},
		{"twice", []string{"*** Delete File: out/a"}, CodeInvalidArgument, "the patch names out/a twice"},
		{"twice through a link", []string{"*** Update File: out/link", "@@", "-x", "+y", "*** End of File", "*** Delete File: out/c"}, CodeInvalidArgument, "the patch names out/c twice"},
		{"outside", []string{"*** Add File: ../outside/x", "+y"}, CodePathOutsideRoot, "../outside/x"},
		{"not writable", []string{"*** Delete File: ok.txt"}, CodeWriteNotAllowed, "ok.txt"},
		{"binary", []string{"*** Update File: out/bin", "@@", "-x", "+y"}, CodeBinaryFile, "binary"},
		{"no section", []string{"*** Rename File: a"}, CodeInvalidArgument, `patch line 9: "*** Rename File: a" begins no section`},
		{"no hunks", []string{"*** Update File: out/c"}, CodeInvalidArgument, "changes nothing"},
		{"context only", []string{"*** Update File: out/c", "@@", " x"}, CodeInvalidArgument, "no line with - or +"},
		{"bad line", []string{"*** Update File: out/c", "@@", "-x", "y"}, CodeInvalidArgument, "begins with a space, - or +"},
		{"bad new file", []string{"*** Add File: out/n", "y"}, CodeInvalidArgument, "every line of a new file begins with +"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, withPatch(t))
			for name, content := range map[string]string{"a": "one\n", "b": "two\n", "c": "x\nmiddle\nx\n", "bin": "x\x00\n"} {
				w.write("out/"+name, content)
			}
			require.NoError(t, os.Mkdir(w.path("out/dir"), 0o755))
			require.NoError(t, os.Symlink("c", w.path("out/link")))
			before := w.tree(".")
			e := w.refused(c.code, "apply_patch", patchOf(append(good[:len(good):len(good)], c.bad...)...))
			require.Contains(t, e.Error(), c.text)
			require.Equal(t, before, w.tree("."))
			w.noJournal()
			w.ok("apply_patch", patchOf(good...))
			require.NotEqual(t, before, w.tree("."))
		})
	}
}

func TestApplyPatchNeedsItsFrame(t *testing.T) {
	w := newWorld(t, withPatch(t))
	for _, patch := range []string{"", "--- a/x\n+++ b/x\n", "*** Begin Patch\n*** Delete File: x", "*** Begin Patch\n*** End Patch"} {
		e := w.refused(CodeInvalidArgument, "apply_patch", args{"patch": patch})
		require.Contains(t, e.Message, "patch line ")
	}
	_, err := New(Config{FS: w.set.fs, Enable: []string{"apply_patch"}})
	require.ErrorContains(t, err, "StateDir")
	_, err = New(Config{FS: w.set.fs, Enable: []string{"apply_patch"}, StateDir: "state"})
	require.ErrorContains(t, err, "absolute")
	r, err := pathresolver.New(pathresolver.Config{Root: w.root, WritePaths: []string{"out"}})
	require.NoError(t, err)
	defer r.Close()
	_, err = New(Config{Resolver: r, Enable: []string{"apply_patch"}, StateDir: w.path("out/not/yet")})
	require.ErrorContains(t, err, "inside the root")
	require.NoDirExists(t, w.path("out/not"), "nothing is made where it is refused")
	_, err = New(Config{Resolver: r, Enable: []string{"apply_patch"}, StateDir: w.path("out/state")})
	require.ErrorContains(t, err, "lies inside the root")
	_, err = New(Config{Resolver: r, Enable: []string{"apply_patch"}, StateDir: filepath.Join(w.base, "state")})
	require.NoError(t, err)
}

// Every path of a patch goes through the gate (T01), before anything is read.
func TestApplyPatchAsksTheGate(t *testing.T) {
	patch := patchOf("*** Add File: out/new", "+x", "*** Update File: out/u", "*** Move to: out/v", "@@", "-u", "+v", "*** Delete File: out/gone")
	for _, refuse := range []use{
		{}, // nothing
		{"out/new", access.FSWrite}, {"out/u", access.FSRead}, {"out/u", access.FSWrite}, {"out/u", access.FSMove},
		{"out/v", access.FSMove}, {"out/v", access.FSWrite}, {"out/gone", access.FSDelete},
	} {
		w := newWorld(t, withPatch(t), func(c *Config) { c.Gate = refusing(refuse) })
		w.write("out/u", "u\n")
		w.write("out/gone", "gone\n")
		before := w.tree(".")
		if refuse == (use{}) {
			w.ok("apply_patch", patch)
			require.NotEqual(t, before, w.tree("."))
			continue
		}
		w.refused(CodePermissionDenied, "apply_patch", patch)
		require.Equal(t, before, w.tree("."))
	}
}

// refusing is a gate that refuses one use.
type refusing use

func (g refusing) Check(_ context.Context, r access.Request) access.Decision {
	if r.Path == g.Path && r.Action == g.Action {
		return access.Decision{}
	}
	return access.Decision{Effect: access.Allow}
}

// A patch of two files does not make a directory a repository that runs something,
// which neither of them could; nothing of it stays. Without the rules it does.
func TestPatchMakesNoRepository(t *testing.T) {
	repository := patchOf("*** Add File: out/d/HEAD", "+ref: refs/heads/m", "*** Add File: out/d/config", "+[core]", "+\tfsmonitor = evil")
	w := newWorld(t, withPatch(t))
	w.ok("mkdir", args{"path": "out/d"}) // one that stood there becomes none in any case
	w.refused(CodePathBlocked, "apply_patch", repository)
	require.Empty(t, w.names("out/d"))
	w.noJournal()

	w = newWorldWith(t, pathresolver.Config{WritePaths: []string{"out"}, Unprotect: []string{".git"}}, withPatch(t))
	w.ok("mkdir", args{"path": "out/d"})
	w.ok("apply_patch", repository)
	require.Equal(t, []string{"HEAD", "config"}, w.names("out/d"))
}
