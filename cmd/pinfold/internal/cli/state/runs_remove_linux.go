package state

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

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
