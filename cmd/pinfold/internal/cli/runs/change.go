package runs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/live"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// NewAllow is the command allow.
func NewAllow(a *cli.App) *cobra.Command {
	var paths []string
	cmd := operators(&cobra.Command{
		Use:   "allow [flags] RUN -w PATH...",
		Short: "Let a run that goes on write further paths",
		Long: `allow adds write paths to RUN, until it ends. They are checked as those of
'pinfold run -w' are, what is hidden or protected stays so, and each of them has to be
there. A program that works in such a directory already has to enter it again
('cd "$PWD"').`,
		Example: `  pinfold allow build -w docs
  pinfold allow build -w src -w go.mod`,
		Args:              cli.OneArg("RUN"),
		ValidArgsFunction: complete(false),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(paths) == 0 {
				return cli.UsageError(errors.New("no write path is given"), "pinfold allow RUN -w PATH")
			}
			if err := cli.RefuseDashes("--write-path", paths...); err != nil {
				return err
			}
			r, err := live.Find(args[0])
			if err != nil {
				return err
			}
			if err := hostfile.RememberMore(a.Out, string(r.Root), paths); err != nil {
				a.Out.Warning("that this run can write there is not remembered, so that links which it makes are followed by later ones: " + err.Error())
			}
			return tellChange(a.Out, &r, live.Change{Write: cli.Convert[cli.PathText](paths)})
		},
	})
	cmd.Flags().StringArrayVarP(&paths, "write-path", "w", nil, "a `PATH` in the run's directory that it may write from now on (repeatable)")
	return cmd
}

// NewHide is the command hide.
func NewHide(a *cli.App) *cobra.Command {
	cmd := operators(&cobra.Command{
		Use:   "hide [flags] RUN GLOB...",
		Short: "Hide files from a run that goes on",
		Long: `hide takes what each GLOB matches away from RUN, until it ends, as 'pinfold run --hide' does
from the start. Names are gone at once. What a program has open is gone, too, unless the
run is root's: then the kernel goes on reading open files in write paths for it; hide names
them, and exits with 1. To end that, end the program, or 'pinfold stop RUN'.

What a program has read already it keeps.`,
		Example: `  pinfold hide build '**/.env' secrets
  pinfold hide build 'customers/**/*.csv'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cli.UsageError(errors.New("a run and a glob are wanted"), "pinfold hide RUN GLOB...")
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return complete(false)(cmd, args, word)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := live.Find(args[0])
			if err != nil {
				return err
			}
			return tellChange(a.Out, &r, live.Change{Hide: cli.Convert[cli.PathText](args[1:])})
		},
	})
	return cmd
}

// tellChange changes a run, and says what holds now.
func tellChange(o *cli.Output, r *live.Record, what live.Change) error {
	done, err := r.Change(what)
	if err != nil {
		return err
	}
	esc := pathresolver.EscapePath
	if len(what.Write) > 0 {
		var all []string
		for _, path := range done.WritePaths {
			all = append(all, esc(string(path)))
		}
		o.Stdout.Printf("%s may write: %s\n", r.ID, strings.Join(all, ", "))
	} else {
		o.Stdout.Printf("%s does not see: %s\n", r.ID, esc(strings.Join(cli.Convert[string](what.Hide), ", ")))
	}
	if done.Untold != "" {
		o.Warning("'pinfold why' inside does not know of it: " + done.Untold)
	}
	if len(done.Open) > 0 {
		for _, path := range done.Open {
			o.Warning("'" + esc(string(path)) + "' is open, and stays so until its program closes it")
		}
		if done.More > 0 {
			o.Warning(fmt.Sprintf("%d more are open", done.More))
		}
		o.Hint("'pinfold stop " + r.ID + "' ends the run")
		return cli.Silent(cli.ExitFailed)
	}
	return nil
}
