package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

func newAwait(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "await [flags] ID",
		Short: "Wait until a report goes idle or ends, and print how",
		Long: `await waits until the report ID waits for a message, has exited or was fired, and
prints that, with the last of its output. You are idle meanwhile: a message for
you ends the wait too, and mailbox has it.`,
		Args: oneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withBroker(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				g, err := c.Await(ctx, args[0])
				if err != nil {
					return err
				}
				return printAnswer(a, asJSON(cmd), g, func() { printAwaited(a, g) })
			})
		},
	}
	jsonFlag(cmd)
	return cmd
}

func printAwaited(a *app, g broker.Agent) {
	switch g.State {
	case broker.Fired:
		a.out.stdout.printf("%s was fired\n", g.ID)
	case broker.Exited:
		a.out.stdout.printf("%s %s\n", g.ID, pathresolver.EscapePath(g.Exit.String()))
	default:
		a.out.stdout.printf("%s is %s\n", g.ID, g.State)
	}
	if g.State == broker.Working {
		a.out.hint("a message ended the wait: 'pinfold mailbox' has it")
	}
	if g.Exit.Output != "" {
		a.out.stdout.printf("Last output: %s\n", pathresolver.EscapePath(g.Exit.Output))
	}
}
