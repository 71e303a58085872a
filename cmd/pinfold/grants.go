package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

func newGrants(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "grants [flags]",
		Short: "List what you were granted, and what your reports were",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listOfEach(a, cmd, (*brokerhttp.Client).Grants)
		},
	}
	jsonFlag(cmd)
	return cmd
}

func newRevoke(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "revoke [flags] ID",
		Short: "Take a grant back",
		Args:  oneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withBrokerOf(cmd, a, args[0], func(ctx context.Context, c *brokerhttp.Client) error {
				r, err := c.Revoke(ctx, args[0])
				if err != nil {
					return err
				}
				return printAnswer(a, asJSON(cmd), r, func() {
					a.out.stdout.printf("Revoked %s '%s' for %s\n", pathresolver.EscapePath(string(r.Action)), pathresolver.EscapePath(r.Resource), pathresolver.EscapePath(r.AgentID))
				})
			})
		},
	}
	jsonFlag(cmd)
	return cmd
}
