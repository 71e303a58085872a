package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Later runs remove what is kept of earlier ones, above all their audit. Locks say
// whether a directory is in use: one on the directory itself, which a run holds from
// its first moment to its last, and one of the process that serves in it. They are
// taken on the handle through which the directory is emptied.
const (
	keptFor   = 30 * 24 * time.Hour // after its broker has written last
	keptRuns  = 100                 // of which more are removed earlier,
	keptLeast = 24 * time.Hour      // but not before this
	// prunedAtOnce bounds what a start costs. Each start adds one directory, so a
	// backlog shrinks.
	prunedAtOnce = 4
)

// HoldRun keeps a run's directory from being removed by other runs, until the file
// is closed. It may be held several times.
func HoldRun(dir string) (_ *os.File, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // nothing was written
		}
	}()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		return nil, &fs.PathError{Op: "flock", Path: dir, Err: err}
	}
	held, err := f.Stat()
	if err != nil {
		return nil, err
	}
	named, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !os.SameFile(held, named) {
		return nil, fmt.Errorf("%q was replaced", dir)
	}
	return f, nil
}

// PruneRuns removes from dir the oldest of what is kept of runs, a few at a time. The
// starting run does not fail over what cannot be removed: the next one tries again.
func PruneRuns(dir string, now time.Time) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }() // nothing is written by it
	names, err := runNames(root)
	if err != nil {
		return
	}
	removed := 0
	for i, name := range names {
		keep := keptFor
		if i < len(names)-keptRuns {
			keep = keptLeast
		}
		started, err := StartOf(name)
		if err != nil || now.Sub(started) <= keep || removed == prunedAtOnce {
			return // the rest began later
		}
		if removeRun(root, name, now.Add(-keep)) {
			removed++
		}
	}
}

// PruneLogs removes from dir the records of runs that have ended, but for the latest, a
// few at a time.
func PruneLogs(dir string, now time.Time) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }() // nothing is written by it
	names, err := runNames(root)
	if err != nil {
		return
	}
	for i := 0; i < min(prunedAtOnce, len(names)-keptRuns); i++ {
		removeRun(root, names[i], now) // not one that goes on: it is held
	}
}

// runNames are the names of runs in a directory of this user alone, the oldest
// first. What has another name is not a run's.
func runNames(root *os.Root) ([]string, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &st); err != nil {
		return nil, err
	}
	if int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0 {
		return nil, errors.New("others may write there")
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		_, err := StartOf(name)
		return err != nil
	})
	slices.Sort(names)
	return names, nil
}

// The files in a broker's directory that removing it is about.
const (
	RunLock     = "lock" // held by the server
	RunDatabase = "broker.db"
	RunJournal  = "broker.db-wal" // there while the broker runs, and after it was killed
)

// removeRun removes what is kept of a run, unless somebody uses it or its broker
// has written after a time. It reports whether it did. A link is not followed and
// stays.
func removeRun(root *os.Root, name string, before time.Time) bool {
	named, err := root.Lstat(name)
	if err != nil || !named.IsDir() {
		return false
	}
	run, err := root.OpenRoot(name)
	if err != nil {
		return false
	}
	defer func() { _ = run.Close() }() // nothing is written by it
	dir, err := run.Open(".")
	if err != nil {
		return false
	}
	defer dir.Close()
	if at, err := dir.Stat(); err != nil || !os.SameFile(named, at) || !lockAlone(dir) {
		return false
	}
	// Where none was left, who begins to serve finds this one taken.
	served, err := run.OpenFile(RunLock, os.O_CREATE|os.O_RDWR|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return false
	}
	defer served.Close()
	if !lockAlone(served) || lastWritten(run).After(before) {
		return false
	}
	return empty(run, dir) == nil && root.Remove(name) == nil
}

// lockAlone locks a file until it is closed, unless somebody else has it locked.
func lockAlone(f *os.File) bool {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// lastWritten is when a run's broker wrote last: never, where there is no
// database, because a removal was interrupted or the run was before it wrote.
func lastWritten(run *os.Root) time.Time {
	database, err := run.Lstat(RunDatabase)
	if err != nil {
		return time.Time{}
	}
	last := database.ModTime()
	if journal, err := run.Lstat(RunJournal); err == nil && journal.ModTime().After(last) {
		last = journal.ModTime()
	}
	return last
}

// empty removes what is in a run's directory: first the database, without which
// the rest is worth nothing, and the lock last.
func empty(run *os.Root, dir *os.File) error {
	if err := run.Remove(RunDatabase); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == RunLock {
			continue
		}
		if err := run.RemoveAll(name); err != nil {
			return err
		}
	}
	return run.Remove(RunLock)
}
