package approvals

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// NewApprove is the command approve.
func NewApprove(a *cli.App) *cobra.Command {
	var body brokerhttp.ApproveBody
	var scope string
	var lasting time.Duration
	cmd := &cobra.Command{
		Use:   "approve [flags] ID",
		Short: "Approve a request: let the agent do what it asks for",
		Long: `approve answers a request with yes. Only the manager of the agent that asks can
answer, and only with what its own policy allows.`,
		Example: "  pinfold approve 0198f2c6-7d3e-7a41-9c55-0d6f3b1f2a77\n  pinfold approve --scope subtree 0198f2c6-7d3e-7a41-9c55-0d6f3b1f2a77",
		Args:    cli.OneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if body.Scope = broker.Scope(scope); !slices.Contains(broker.Scopes(), body.Scope) {
				return cli.UsageError(cli.UnknownWord("scope", scope, scopeWords()...), "")
			}
			switch {
			case lasting < 0 || lasting > 0 && body.Scope == broker.Once:
				return cli.UsageError(errors.New("--for is how long a scope other than once holds"), cli.SeeHelp(cmd))
			case lasting == 0 && body.Scope == broker.Until:
				return cli.UsageError(errors.New("--scope until needs --for"), "--for 30m, for example")
			case lasting > 0:
				body.Until = time.Now().Add(lasting)
			}
			return brokerclient.WithRequest(cmd, a, args[0], func(ctx context.Context, c *brokerhttp.Client) error {
				answer, err := c.Approve(ctx, args[0], body)
				if err != nil {
					return err
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), answer, func() {
					a.Out.Stdout.Printf("Approved %s for %s\n", pathresolver.EscapePath(answer.ToolName), pathresolver.EscapePath(answer.SessionID))
				})
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	cmd.Flags().StringVar(&scope, "scope", string(broker.Once), "how far it reaches: `once|path|subtree|session|until`")
	cmd.Flags().DurationVar(&lasting, "for", 0, "let it end after `TIME`, such as 30m; otherwise it ends with the agent")
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions(scopeWords(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func scopeWords() []string { return cli.Convert[string](broker.Scopes()) }

// NewDeny is the command deny.
func NewDeny(a *cli.App) *cobra.Command {
	var body brokerhttp.DenyBody
	cmd := &cobra.Command{
		Use:     "deny [flags] ID",
		Short:   "Deny a request",
		Example: `  pinfold deny 0198f2c6-7d3e-7a41-9c55-0d6f3b1f2a77 --reason "not in this release"`,
		Args:    cli.OneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return brokerclient.WithRequest(cmd, a, args[0], func(ctx context.Context, c *brokerhttp.Client) error {
				answer, err := c.Deny(ctx, args[0], body)
				if err != nil {
					return err
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), answer, func() {
					a.Out.Stdout.Printf("Denied %s for %s\n", pathresolver.EscapePath(answer.ToolName), pathresolver.EscapePath(answer.SessionID))
				})
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	cmd.Flags().StringVar(&body.Reason, "reason", "", "what the agent is told: `TEXT`")
	return cmd
}

// NewGrants is the command grants.
func NewGrants(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "grants [flags]",
		Short: "List what you were granted, and what your child agents were",
		Args:  cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listOfEach(a, cmd, (*brokerhttp.Client).Grants)
		},
	}
	brokerclient.JSONFlag(cmd)
	return cmd
}

// NewRevoke is the command revoke.
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
