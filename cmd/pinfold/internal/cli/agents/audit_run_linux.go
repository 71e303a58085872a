package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
)

// open copies what is kept in a run's directory and answers from the copy. If the
// run's broker is alive it reports that and does nothing. The caller closes c in
// either case.
func (c *auditCopy) open(ctx context.Context, dir string) (lives bool, err error) {
	held, err := state.HoldRun(dir)
	if err != nil {
		return false, err
	}
	defer held.Close()
	run, err := os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", held.Fd()))
	if err != nil {
		return false, err
	}
	defer func() { _ = run.Close() }() // nothing is written by it
	// Until all is copied nobody begins to serve there.
	switch lock, err := run.OpenFile(state.RunLock, os.O_RDWR|unix.O_NONBLOCK, 0); {
	case err == nil:
		defer lock.Close()
		switch err := unix.Flock(int(lock.Fd()), unix.LOCK_SH|unix.LOCK_NB); err {
		case nil:
		case unix.EWOULDBLOCK:
			return true, nil
		default:
			return false, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	if c.dir, err = os.MkdirTemp("", "pinfold-audit-"); err != nil {
		return false, err
	}
	if err := c.copy(run, state.RunDatabase); err != nil {
		return false, err
	}
	if err := c.copy(run, state.RunJournal); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err // what was closed has none
	}
	return false, c.serve(ctx)
}

// copy copies a file of a run's.
func (c *auditCopy) copy(run *os.Root, name string) (err error) {
	from, err := run.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(filepath.Join(c.dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	_, err = io.Copy(to, from)
	return err
}
