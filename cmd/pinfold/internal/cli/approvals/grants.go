package approvals

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

func NewGrants(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "grants [flags]",
		Short: "List what you were granted, and what your reports were",
		Args:  cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listOfEach(a, cmd, (*brokerhttp.Client).Grants)
		},
	}
	brokerclient.JSONFlag(cmd)
	return cmd
}

func NewRevoke(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "revoke [flags] ID",
		Short: "Take a grant back",
		Args:  cli.OneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return brokerclient.WithRequest(cmd, a, args[0], func(ctx context.Context, c *brokerhttp.Client) error {
				r, err := c.Revoke(ctx, args[0])
				if err != nil {
					return err
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), r, func() {
					a.Out.Stdout.Printf("Revoked %s '%s' for %s\n", pathresolver.EscapePath(string(r.Action)), pathresolver.EscapePath(r.Resource), pathresolver.EscapePath(r.AgentID))
				})
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	return cmd
}
