package agents

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// hireArgs wants a task, and perhaps a command after --; with --resume only that.
func hireArgs(cmd *cobra.Command, args []string) error {
	before := len(args)
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		before = dash
	}
	resumed := cmd.Flags().Changed("resume")
	switch {
	case resumed && cmd.Flag("resume").Value.String() == "":
		return cli.UsageError(errors.New("--resume was given an empty value"), "is a variable empty?")
	case resumed && before > 0:
		return cli.UsageError(fmt.Errorf("unexpected argument %q", args[0]), "an agent is started again with the task that it had; the command stands after --")
	case !resumed && before == 0:
		return cli.UsageError(errors.New("no TASK is given"), cli.SeeHelp(cmd))
	case !resumed && before > 1:
		return cli.UsageError(fmt.Errorf("unexpected argument %q", args[1]), "quote the task; the command stands after --")
	case cmd.ArgsLenAtDash() >= 0 && len(args) == before:
		return cli.UsageError(errors.New("no command is given after --"), cli.SeeHelp(cmd))
	case !resumed && cmd.Flags().Changed("resumable") && len(args) == before:
		return cli.UsageError(errors.New("--resumable needs a command that can be started again"), cli.SeeHelp(cmd))
	}
	return nil
}

// resumeAgent starts an agent that has exited again, as it was hired.
func resumeAgent(a *cli.App, cmd *cobra.Command, body brokerhttp.HireBody) error {
	var other string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "resume" && f.Name != "json" {
			other = f.Name
		}
	})
	if other != "" {
		return cli.UsageError(fmt.Errorf("--resume starts an agent as it was hired: --%s cannot be given anew", other), "hire another agent for that")
	}
	return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
		hired, err := c.Hire(ctx, brokerhttp.HireBody{Resume: body.Resume, Command: body.Command})
		if err != nil {
			return err
		}
		return brokerclient.Print(a, brokerclient.AsJSON(cmd), hired, func() {
			a.Out.Stdout.Printf("Resumed: %s\n", pathresolver.EscapePath(hired.Agent.ID))
		})
	})
}
