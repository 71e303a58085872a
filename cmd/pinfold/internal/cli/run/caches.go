package run

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/caches"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
	"github.com/pinfold-dev/pinfold/launcher"
)

func (f *runFlags) cacheFlag(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.caches, "cache", nil, "show your caches of these programs, with a private layer over them that is kept for the next run here: `NAME,...` of "+strings.Join(caches.Names(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("cache", cobra.FixedCompletions(caches.Names(), cobra.ShellCompDirectiveNoFileComp))
}

// findCaches finds where the caches of --cache lie.
func (f *runFlags) findCaches() (err error) {
	if len(f.caches) == 0 {
		return nil
	}
	if f.user != "" {
		return cli.UsageError(errors.New("--cache shows your own caches, and --user runs CMD as another user"), "leave one of them out; --home keeps what that user's programs cache")
	}
	for _, name := range f.caches {
		if _, ok := caches.Find(name); !ok {
			return cli.UsageError(cli.UnknownWord("cache", name, caches.Names()...), "")
		}
	}
	if f.planned, err = caches.PlanFor(caches.ThisHost(), f.caches); err != nil {
		return err
	}
	for _, plan := range f.planned {
		for _, told := range plan.Env {
			name, at, _ := strings.Cut(told, "=")
			for _, given := range f.env {
				key, value, set := strings.Cut(given, "=")
				if !set {
					value = os.Getenv(key)
				}
				if key == name && value != at {
					return cli.UsageError(fmt.Errorf("--env %s names another place than --cache %s, which is '%s'", name, plan.Cache.Name, at), "leave one of them out")
				}
			}
		}
	}
	return nil
}

// holdCaches takes the layers over the caches, until releaseCaches or the end of this
// process.
func (f *runFlags) holdCaches(o *cli.Output, root string) error {
	if len(f.planned) == 0 {
		return nil
	}
	base, err := state.CachesDir()
	if err != nil {
		return fmt.Errorf("layers over caches cannot be kept: %w", err)
	}
	caches.Tidy(base, time.Now())
	for _, plan := range f.planned {
		held, err := caches.Hold(base, root, plan)
		if err != nil {
			f.releaseCaches()
			return &cli.ExitError{Code: cli.ExitRunOwn, Err: err, Hint: "without --cache the run has a cache of its own, which is empty; 'pinfold cache list' shows the layers"}
		}
		f.held = append(f.held, held)
		if held.Temporary {
			o.Warning(fmt.Sprintf("another run uses this project's layer over the cache '%s': what this one adds is thrown away", plan.Cache.Name))
		}
	}
	return nil
}

func (f *runFlags) releaseCaches() {
	for _, held := range f.held {
		held.Close()
	}
}

// cachesInto shows the caches, and tells programs where they are.
func (f *runFlags) cachesInto(c *launcher.Config) {
	for _, held := range f.held {
		for _, part := range held.Shown {
			c.Layers = append(c.Layers, launcher.Layer{Path: part.Path, Own: part.Own, Dir: part.Dir})
		}
	}
	for _, plan := range f.planned {
		c.Env = append(c.Env, plan.Env...)
	}
}
