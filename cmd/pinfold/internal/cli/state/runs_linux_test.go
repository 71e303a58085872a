package state

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// keptRun makes a run's directory as one that began, and wrote last, some time ago.
func keptRun(t *testing.T, runs string, now time.Time, ago time.Duration, id int) string {
	then := now.Add(-ago)
	dir := filepath.Join(runs, fmt.Sprintf("%s-%d", then.UTC().Format(RunTime), id))
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, RunDatabase), nil, 0o600))
	require.NoError(t, os.Chtimes(filepath.Join(dir, RunDatabase), then, then))
	return dir
}

func countRuns(t *testing.T, runs string) int {
	list, err := os.ReadDir(runs)
	require.NoError(t, err)
	return len(list)
}

// More than so many are not kept, but for what is of the last day; a start
// removes a few of them, the oldest first.
func TestPruneByNumber(t *testing.T) {
	runs, now := t.TempDir(), time.Now()
	require.NoError(t, os.Chmod(runs, 0o700))
	var oldest []string
	for i := range prunedAtOnce + 2 {
		oldest = append(oldest, keptRun(t, runs, now, 20*24*time.Hour-time.Duration(i)*time.Hour, 0))
	}
	for i := range keptRuns {
		keptRun(t, runs, now, keptLeast-time.Minute, i)
	}
	PruneRuns(runs, now)
	require.Equal(t, keptRuns+2, countRuns(t, runs))
	require.NoDirExists(t, oldest[prunedAtOnce-1])
	require.DirExists(t, oldest[prunedAtOnce])

	held, err := HoldRun(oldest[prunedAtOnce])
	require.NoError(t, err)
	PruneRuns(runs, now)
	require.Equal(t, keptRuns+1, countRuns(t, runs))
	require.DirExists(t, oldest[prunedAtOnce], "somebody uses it")
	require.NoError(t, held.Close())

	keptRun(t, runs, now, time.Hour, 0)
	PruneRuns(runs, now)
	PruneRuns(runs, now)
	require.Equal(t, keptRuns+1, countRuns(t, runs), "what is of the last day stays, however many there are")
	PruneRuns(runs, now.Add(keptFor))
	require.Equal(t, keptRuns+1-prunedAtOnce, countRuns(t, runs), "all are old")
}

// What is removed cannot be taken for a run that begins, and the other way round.
func TestHoldRun(t *testing.T) {
	runs, now := t.TempDir(), time.Now()
	require.NoError(t, os.Chmod(runs, 0o700))
	dir := keptRun(t, runs, now, 2*keptFor, 0)
	f, err := os.Open(dir)
	require.NoError(t, err)
	defer f.Close()
	require.True(t, lockAlone(f))
	_, err = HoldRun(dir)
	require.ErrorIs(t, err, unix.EWOULDBLOCK)
	PruneRuns(runs, now)
	require.DirExists(t, dir, "another one removes it")
	_, err = HoldRun(filepath.Join(runs, "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// Runs that begin at the same time remove each directory once, and none that is
// held.
func TestPruneAtOnce(t *testing.T) {
	runs, now := t.TempDir(), time.Now()
	require.NoError(t, os.Chmod(runs, 0o700))
	const starting = 4
	for i := range starting * prunedAtOnce {
		keptRun(t, runs, now, 2*keptFor, i)
	}
	dir := keptRun(t, runs, now, 3*keptFor, 0)
	held, err := HoldRun(dir)
	require.NoError(t, err)
	defer held.Close()
	for countRuns(t, runs) > 1 {
		var pruning sync.WaitGroup
		for range starting {
			pruning.Go(func() { PruneRuns(runs, now) })
		}
		pruning.Wait()
	}
	require.FileExists(t, filepath.Join(dir, RunDatabase))
}

// A FIFO or a file under a run's name holds nothing up.
func TestPruneOddNames(t *testing.T) {
	runs, now := t.TempDir(), time.Now()
	require.NoError(t, os.Chmod(runs, 0o700))
	name := now.Add(-2 * keptFor).UTC().Format(RunTime)
	require.NoError(t, unix.Mkfifo(filepath.Join(runs, name+"-0"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(runs, name+"-1"), nil, 0o600))
	require.NoError(t, unix.Mkfifo(filepath.Join(keptRun(t, runs, now, 2*keptFor, 2), RunLock), 0o600))
	keptRun(t, runs, now, 2*keptFor, 3)
	PruneRuns(runs, now)
	require.NoDirExists(t, filepath.Join(runs, name+"-3"))
	require.FileExists(t, filepath.Join(runs, name+"-1"))
}

// TestPlace: a process that serves a view keeps the records of what runs left, and
// neither the brokers' databases nor what runs could write.
func TestPlace(t *testing.T) {
	base := t.TempDir()
	t.Setenv("XDG_STATE_HOME", base)
	require.Empty(t, Place(), "nothing is made where there is no state")
	require.NoError(t, os.Mkdir(filepath.Join(base, "pinfold"), 0o700))
	for range 2 {
		require.Equal(t, []string{filepath.Join(base, "pinfold", "left")}, Place())
		require.DirExists(t, Place()[0])
	}
	broker, err := BrokerDir()
	require.NoError(t, err)
	runs, err := RunsDir()
	require.NoError(t, err)
	for _, kept := range []string{broker, runs, filepath.Join(filepath.Dir(runs), "written")} {
		rel, err := filepath.Rel(Place()[0], kept)
		require.NoError(t, err)
		require.False(t, filepath.IsLocal(rel), kept)
	}
}
