package agents

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

func NewAwait(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "await [flags] ID",
		Short: "Wait until a report goes idle or ends, and print how",
		Long: `await waits until the report ID waits for a message, has exited or was fired, and
prints that, with the last of its output. You are idle meanwhile: a message for
you ends the wait too, and mailbox has it.`,
		Args: cli.OneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				g, err := c.Await(ctx, args[0])
				if err != nil {
					return err
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), g, func() { printAwaited(a, g) })
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	return cmd
}

func printAwaited(a *cli.App, g broker.Agent) {
	switch g.State {
	case broker.Fired:
		a.Out.Stdout.Printf("%s was fired\n", g.ID)
	case broker.Exited:
		a.Out.Stdout.Printf("%s %s\n", g.ID, pathresolver.EscapePath(g.Exit.String()))
	default:
		a.Out.Stdout.Printf("%s is %s\n", g.ID, g.State)
	}
	if g.State == broker.Working {
		a.Out.Hint("a message ended the wait: 'pinfold mailbox' has it")
	}
	if g.Exit.Output != "" {
		a.Out.Stdout.Printf("Last output: %s\n", pathresolver.EscapePath(g.Exit.Output))
	}
}
