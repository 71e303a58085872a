package runs

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/live"
)

// operators has cmd refuse inside a run. That is for the message: nothing inside reaches a
// run's socket, whatever program it uses.
func operators(cmd *cobra.Command) *cobra.Command {
	do := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if inside.Run() {
			return &cli.ExitError{Code: cli.ExitFailed, Err: errors.New("'" + cmd.CommandPath() + "' is the operator's, and this is inside 'pinfold run'"),
				Hint: "from here nothing acts on a run, not on this one either; 'pinfold why PATH' says what is allowed"}
		}
		return do(cmd, args)
	}
	return cmd
}

// oneRun wants exactly one argument.
func oneRun(cmd *cobra.Command, args []string) error {
	if err := someRuns(cmd, args); err != nil {
		return err
	}
	return cli.OneArg("RUN")(cmd, args)
}

// someRuns wants at least one argument.
func someRuns(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cli.UsageError(errors.New("no run is named"), "'pinfold ps' lists what runs")
	}
	return nil
}

// complete offers the runs that go on, or, with all, those that are remembered.
func complete(all bool) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		if inside.Run() {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return live.Names(all), cobra.ShellCompDirectiveNoFileComp
	}
}
