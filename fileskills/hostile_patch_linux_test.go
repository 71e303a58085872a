package fileskills

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// What somebody puts in the stead of a file of a patch that was left does not
// keep the next start, nor the next patch, from happening. T03
func TestJournalIsNotBlockedByStrangers(t *testing.T) {
	put := map[string]func(t *testing.T, w *world, name string){
		"directory": func(t *testing.T, w *world, name string) { require.NoError(t, os.Mkdir(name, 0o755)) },
		"FIFO":      func(t *testing.T, w *world, name string) { require.NoError(t, unix.Mkfifo(name, 0o644)) },
		"escape": func(t *testing.T, w *world, name string) {
			require.NoError(t, os.Symlink("../../outside/secret", name))
		},
		"loop": func(t *testing.T, w *world, name string) { require.NoError(t, os.Symlink("u", name)) },
		"link": func(t *testing.T, w *world, name string) {
			w.write("out/victim", "new u\n") // what the patch wrote to another file
			require.NoError(t, os.Symlink("victim", name))
		},
	}
	for kind, plant := range put {
		for _, redo := range []bool{false, true} {
			t.Run(kind, func(t *testing.T) {
				w, c, tx := left(t)
				name := w.path("out/u")
				if redo {
					require.NoError(t, tx.writesDone())
					name = w.path("out/gone")
				}
				require.NoError(t, os.Remove(name))
				plant(t, w, name)
				before, err := os.Lstat(name)
				require.NoError(t, err)
				require.NoError(t, w.again(c))
				w.noJournal()
				after, err := os.Lstat(name)
				require.NoError(t, err)
				require.True(t, os.SameFile(before, after), "it is somebody's")
				require.Equal(t, "secret\n", w.read("../outside/secret"))
				if kind == "link" {
					require.Equal(t, "new u\n", w.read("out/victim"))
				}
				if !redo {
					require.NoDirExists(t, w.path("out/d"), "the rest is undone")
				}
			})
		}
	}
	t.Run("parent", func(t *testing.T) {
		w, c, _ := left(t)
		require.NoError(t, os.RemoveAll(w.path("out/l")))
		w.write("out/l", "a file now")
		require.NoError(t, w.again(c))
		require.Equal(t, "old u\n", w.read("out/u"))
		w.noJournal()
	})
}

// fasterFS makes a file in the instant before a patch does.
type fasterFS struct {
	FS
	name string
	made func()
}

func (f *fasterFS) Replace(unsafePath string, o ReplaceOptions) (Replacement, error) {
	rep, err := f.FS.Replace(unsafePath, o)
	if err == nil && unsafePath == f.name && o.MustBeNew {
		rep = fasterReplacement{rep, f}
	}
	return rep, err
}

type fasterReplacement struct {
	Replacement
	fs *fasterFS
}

func (r fasterReplacement) Commit(ctx context.Context, still func(File) error) error {
	r.fs.made()
	return r.Replacement.Commit(ctx, still)
}

// A patch that is undone does not take away the file that somebody else was
// faster to make, even one of the same content. T03
func TestPatchUndoesOnlyItsOwn(t *testing.T) {
	w := newWorld(t)
	r, err := pathresolver.New(pathresolver.Config{Root: w.root, WritePaths: []string{"out"}})
	require.NoError(t, err)
	defer r.Close()
	f := &fasterFS{FS: Resolved(r), name: "out/lock", made: func() { w.write("out/lock", "same\n") }}
	c := Config{FS: f}
	withPatch(t)(&c)
	w.set, err = New(c)
	require.NoError(t, err)
	w.write("out/first", "old\n")
	e := w.refused(CodeStaleFile, "apply_patch", patchOf("*** Update File: out/first", "@@", "-old", "+new", "*** Add File: out/lock", "+same"))
	require.Contains(t, e.Message, "exists already")
	require.Equal(t, "same\n", w.read("out/lock"))
	require.Equal(t, "old\n", w.read("out/first"))
	w.noJournal()
	require.NoError(t, os.Remove(w.path("out/lock")))
	f.made = func() {}
	w.ok("apply_patch", patchOf("*** Add File: out/lock", "+same"))
}

// A journal is carried out: one that somebody else could have written is not.
func TestJournalsOfOthersAreNotTaken(t *testing.T) {
	w, c, _ := left(t)
	dir := w.set.journal.dir
	require.NoError(t, os.Chmod(dir, 0o777))
	require.ErrorContains(t, w.again(c), "nobody else may write")
	require.NoError(t, os.Chmod(dir, 0o700))
	require.NoError(t, os.Rename(dir, dir+"-theirs"))
	require.NoError(t, os.Symlink(dir+"-theirs", dir))
	require.ErrorContains(t, w.again(c), "nobody else may write")
	require.Equal(t, "new u\n", w.read("out/u"))
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.Rename(dir+"-theirs", dir))
	require.NoError(t, w.again(c))
	require.Equal(t, "old u\n", w.read("out/u"))
}
