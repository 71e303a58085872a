package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
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
		return usageError(errors.New("--resume was given an empty value"), "is a variable empty?")
	case resumed && before > 0:
		return usageError(fmt.Errorf("unexpected argument %q", args[0]), "an agent is started again with the task that it had; the command stands after --")
	case !resumed && before == 0:
		return usageError(errors.New("no TASK is given"), seeHelp(cmd))
	case !resumed && before > 1:
		return usageError(fmt.Errorf("unexpected argument %q", args[1]), "quote the task; the command stands after --")
	case cmd.ArgsLenAtDash() >= 0 && len(args) == before:
		return usageError(errors.New("no command is given after --"), seeHelp(cmd))
	case !resumed && cmd.Flags().Changed("resumable") && len(args) == before:
		return usageError(errors.New("--resumable needs a command that can be started again"), seeHelp(cmd))
	}
	return nil
}

// resumeAgent starts an agent that has exited again, as it was hired.
func resumeAgent(a *app, cmd *cobra.Command, body brokerhttp.HireBody) error {
	var other string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "resume" && f.Name != "json" {
			other = f.Name
		}
	})
	if other != "" {
		return usageError(fmt.Errorf("--resume starts an agent as it was hired: --%s cannot be given anew", other), "hire another agent for that")
	}
	return withBroker(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
		hired, err := c.Hire(ctx, brokerhttp.HireBody{Resume: body.Resume, Command: body.Command})
		if err != nil {
			return err
		}
		return printAnswer(a, asJSON(cmd), hired, func() {
			a.out.stdout.printf("Resumed: %s\n", pathresolver.EscapePath(hired.Agent.ID))
		})
	})
}
