package fileskills

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// again makes another Set over the same root and journal, as a restart does.
func (w *world) again(c Config) error {
	w.t.Helper()
	r, err := pathresolver.New(pathresolver.Config{Root: w.root, WritePaths: []string{"out"}})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { r.Close() })
	c.Resolver = r
	set, err := New(c)
	if err == nil {
		w.set = set
	}
	return err
}

func digestFor(t *testing.T, content string) digest {
	d, err := digestOf(context.Background(), []byte(content))
	require.NoError(t, err)
	return d
}

// left makes a world with a patch that stopped half way: out/u is written,
// out/d/n was made in a new directory, out/l/later not yet written.
func left(t *testing.T) (*world, Config, *transaction) {
	enable := withPatch(t)
	w := newWorld(t, enable)
	w.write("out/u", "new u\n")
	require.NoError(t, os.Chmod(w.path("out/u"), 0o640))
	require.NoError(t, os.Mkdir(w.path("out/l"), 0o755))
	w.write("out/l/later", "old later\n")
	require.NoError(t, os.Mkdir(w.path("out/d"), 0o755))
	w.write("out/d/n", "new n\n")
	w.write("out/gone", "going\n")
	oldU, oldLater := digestFor(t, "old u\n"), digestFor(t, "old later\n")
	tx, err := w.set.journal.begin(context.Background(), record{
		Writes: []recordWrite{
			{Place: "out/u", Old: &oldU, New: digestFor(t, "new u\n"), old: []byte("old u\n")},
			{Place: "out/d/n", New: digestFor(t, "new n\n")},
			{Place: "out/l/later", Old: &oldLater, New: digestFor(t, "new later\n"), old: []byte("old later\n")},
		},
		Removals: []recordRemoval{{Place: "out/gone", Old: digestFor(t, "going\n")}},
		Dirs:     []string{"out/d"},
	})
	require.NoError(t, err)
	var c Config
	enable(&c)
	return w, c, tx
}

func TestJournalUndoes(t *testing.T) {
	w, c, _ := left(t)
	require.Equal(t, "new u\n", w.read("out/u"))
	require.NoError(t, w.again(c))
	require.Equal(t, map[string]string{"out/u": "old u\n", "out/l/": "", "out/l/later": "old later\n", "out/gone": "going\n"}, w.tree("out"))
	info, err := os.Stat(w.path("out/u"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	w.noJournal()
}

func TestJournalKeepsWhatOthersWrote(t *testing.T) {
	w, c, _ := left(t)
	w.write("out/u", "somebody's\n")
	w.write("out/d/other", "somebody's\n")
	require.NoError(t, w.again(c))
	require.Equal(t, "somebody's\n", w.read("out/u"))
	require.Equal(t, []string{"other"}, w.names("out/d"))
	w.noJournal()
}

func TestJournalFinishes(t *testing.T) {
	w, c, tx := left(t)
	require.NoError(t, tx.writesDone())
	require.NoError(t, w.again(c))
	require.Equal(t, map[string]string{"out/u": "new u\n", "out/l/": "", "out/l/later": "old later\n", "out/d/": "", "out/d/n": "new n\n"}, w.tree("out"))
	w.noJournal()
}

// Another process's patch that is under way is not taken for one that was left.
func TestJournalOfTheLiving(t *testing.T) {
	w, c, tx := left(t)
	require.NoError(t, tx.end())
	release, err := w.set.journal.acquire(context.Background(), w.set.fs)
	require.NoError(t, err)
	_, err = w.set.journal.begin(context.Background(), tx.record)
	require.NoError(t, err)
	require.NoError(t, w.again(c))
	require.Equal(t, "new u\n", w.read("out/u"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = w.set.journal.acquire(ctx, w.set.fs)
	require.ErrorIs(t, err, context.Canceled)
	release()
	require.NoError(t, w.again(c))
	require.Equal(t, "old u\n", w.read("out/u"))
}

// Half a patch does not go unnoticed, and its old contents are not thrown away.
func TestJournalDamaged(t *testing.T) {
	w, c, tx := left(t)
	path := tx.path(undoSuffix)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, raw[:len(raw)-3], 0o600))
	require.ErrorContains(t, w.again(c), "could not be rolled back")
	_, err = os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(tx.dir, "UNFINISHED"), []byte("{"), 0o600))
	require.NoError(t, w.again(c))
	require.Equal(t, "old u\n", w.read("out/u"))
	w.noJournal()
}
