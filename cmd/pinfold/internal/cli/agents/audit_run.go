package agents

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerhost"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// auditRun is the flag --run: the run whose audit is read instead of that of the
// broker that serves.
type auditRun struct{ name string }

func (f *auditRun) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "run", "", "read the record of the run `NAME`, a directory in $XDG_STATE_HOME/pinfold/runs, whether or not it has ended")
	_ = cmd.RegisterFlagCompletionFunc("run", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return latestRuns(-1), cobra.ShellCompDirectiveNoFileComp
	})
}

// withAudit is With for the commands that read an audit. do is told whether
// the audit can grow.
func (f *auditRun) withAudit(cmd *cobra.Command, a *cli.App, do func(ctx context.Context, c *brokerhttp.Client, grows bool) error) (err error) {
	if f.name == "" {
		return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error { return do(ctx, c, true) })
	}
	// Nothing that ends this process in a usual way leaves the copy behind.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGHUP)
	defer stop()
	cmd.SetContext(ctx)
	var kept auditCopy
	defer func() { err = errors.Join(err, kept.close()) }()
	grows := false
	return brokerclient.WithClient(cmd, a, func(ctx context.Context) (*brokerhttp.Client, error) {
		dir, err := runNamed(f.name)
		if err != nil {
			return nil, err
		}
		grows, err = kept.open(ctx, dir)
		if err != nil {
			return nil, fmt.Errorf("the record of the run '%s': %w", pathresolver.EscapePath(f.name), err)
		}
		if !grows {
			dir = kept.dir
		}
		return brokerhttp.NewClient(brokerhttp.Endpoint{Socket: brokerhttp.OperatorSocket(dir)})
	}, func(ctx context.Context, c *brokerhttp.Client) error { return do(ctx, c, grows) })
}

// runNamed is the directory of a run.
func runNamed(name string) (string, error) {
	runs, err := state.RunsDir()
	if err != nil {
		return "", err
	}
	_, err = state.StartOf(name)
	if err == nil && filepath.Base(name) == name {
		dir := filepath.Join(runs, name)
		if _, err = os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return dir, err
		}
	}
	hint := "nothing is kept of any run"
	if latest := latestRuns(1); len(latest) > 0 {
		hint = "the latest is " + latest[0]
	}
	return "", &cli.ExitError{Code: cli.ExitFailed, Err: fmt.Errorf("nothing is kept of a run '%s'", pathresolver.EscapePath(name)), Hint: hint}
}

// latestRuns are the names of runs, the latest first: at most so many, or all where
// most is negative.
func latestRuns(most int) []string {
	dir, err := state.RunsDir()
	if err != nil {
		return nil
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil // nothing was ever kept, as far as can be seen
	}
	var names []string
	for _, entry := range slices.Backward(list) {
		if _, err := state.StartOf(entry.Name()); err == nil && len(names) != most {
			names = append(names, entry.Name())
		}
	}
	return names
}

// auditCopy is a broker in this process that answers from a copy of what is kept of a
// run. The original is not changed, not even to bring it up to date. The zero value is
// closed.
type auditCopy struct {
	dir   string
	store broker.Store
	b     *broker.Broker
	srv   *brokerhttp.Server
}

// serve begins to answer in c.dir, where the copy lies.
func (c *auditCopy) serve(ctx context.Context) (err error) {
	if c.store, err = brokerhost.OpenStore(ctx, c.dir, ""); err != nil {
		return err
	}
	if c.b, err = broker.New(ctx, broker.Options{Store: c.store}); err != nil {
		return err
	}
	c.srv, err = brokerhttp.New(ctx, c.b, brokerhttp.Options{Dir: c.dir})
	return err
}

func (c *auditCopy) close() (err error) {
	if c.srv != nil {
		err = c.srv.Close()
	}
	if c.b != nil {
		c.b.Close()
	}
	if c.store != nil {
		err = errors.Join(err, c.store.Close())
	}
	if c.dir != "" {
		err = errors.Join(err, os.RemoveAll(c.dir))
	}
	return err
}
