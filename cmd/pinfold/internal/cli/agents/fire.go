package agents

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// NewFire is the command fire.
func NewFire(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fire [flags] ID",
		Short: "End an agent and all beneath it",
		Long: `fire ends the agents beneath ID first, then ID: SIGTERM, and SIGKILL 10 s later.
What they ask for is cancelled, what they were granted ends, and their mailboxes
are emptied; what they have sent stays. It returns when nothing of them runs.`,
		Args: cli.OneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				fired, err := c.Fire(ctx, args[0])
				if err != nil {
					return err
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), map[string][]string{"fired": fired}, func() {
					for _, id := range fired {
						a.Out.Stdout.Printf("Fired: %s\n", pathresolver.EscapePath(id))
					}
				})
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	return cmd
}

// NewInterrupt is the command interrupt.
func NewInterrupt(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "interrupt [flags] ID",
		Short: "Send an agent SIGINT, and cancel what it asks for",
		Args:  cli.OneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				agent, err := c.Interrupt(ctx, args[0])
				if err != nil {
					return err
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), agent, func() {
					a.Out.Stdout.Printf("Interrupted: %s\n", pathresolver.EscapePath(agent.ID))
				})
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	return cmd
}
