package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerhost"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
)

// makeDir makes the directory of this run's broker, where no agent may reach it.
// Where the user has no state directory it is a temporary one. shown is what the
// command is to see of the host.
func (e *embedded) makeDir(shown []string) error {
	base, err := state.RunsDir()
	if err == nil {
		err = os.MkdirAll(base, 0o700)
	}
	if err == nil {
		e.dir, err = os.MkdirTemp(base, time.Now().UTC().Format(state.RunTime)+"-")
	} else {
		e.temporary = true
		e.dir, err = os.MkdirTemp("", "pinfold-run-")
	}
	if err == nil {
		e.held, err = state.HoldRun(e.dir)
	}
	if err == nil {
		err = outsideAll(e.dir, shown)
	}
	if err != nil {
		return &cli.ExitError{Code: cli.ExitRunOwn, Err: fmt.Errorf("the policy wants things asked for, and there is no place for the run's broker: %w", err),
			Hint: "set XDG_STATE_HOME to a directory of yours outside of the project, and of what --home and --ro show"}
	}
	if !e.temporary {
		state.PruneRuns(base, time.Now())
	}
	return nil
}

// shown are the directories of the host that the run's command is to see.
func (f *runFlags) shown(root string) []string {
	all := append([]string{root}, f.ro...)
	if f.home != "" {
		all = append(all, f.home)
	}
	return all
}

// outsideAll refuses a broker's directory that lies in what a command is shown
// (M11): it could approve its own requests in the database. What does not exist
// the launcher refuses.
func outsideAll(dir string, shown []string) error {
	for _, at := range shown {
		at, err := filepath.Abs(at) // --home and --ro may be relative
		if err == nil {
			err = brokerhost.OutsideProject(dir, at)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
