package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

func newFire(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fire [flags] ID",
		Short: "End an agent and all beneath it",
		Long: `fire ends the agents beneath ID first, then ID: SIGTERM, and SIGKILL 10 s later.
What they ask for is cancelled, what they were granted ends, and their mailboxes
are emptied; what they have sent stays. It returns when nothing of them runs.`,
		Args: oneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withBroker(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				fired, err := c.Fire(ctx, args[0])
				if err != nil {
					return err
				}
				return printAnswer(a, asJSON(cmd), fired, func() {
					for _, id := range fired.Fired {
						a.out.stdout.printf("Fired: %s\n", pathresolver.EscapePath(id))
					}
				})
			})
		},
	}
	jsonFlag(cmd)
	return cmd
}

func newInterrupt(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "interrupt [flags] ID",
		Short: "Send an agent SIGINT, and cancel what it asks for",
		Args:  oneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withBroker(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				agent, err := c.Interrupt(ctx, args[0])
				if err != nil {
					return err
				}
				return printAnswer(a, asJSON(cmd), agent, func() {
					a.out.stdout.printf("Interrupted: %s\n", pathresolver.EscapePath(agent.ID))
				})
			})
		},
	}
	jsonFlag(cmd)
	return cmd
}
