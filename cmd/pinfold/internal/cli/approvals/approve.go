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
		Use:   "approve [flags] [ID]",
		Short: "Approve a request: let the agent do what it asks for",
		Long: `approve answers a request with yes. Only the manager of the agent that asks can
answer, and only with what its own policy allows. Of the ID the first 13 characters
or more are enough where no other request's begins so, one that has ended included.
Without an ID it is about the only request that waits: on a terminal it shows that one
and asks, else it answers and says which one it was. Where several wait it answers
none, and where none does there is nothing to do.`,
		Example: "  pinfold approve\n  pinfold approve 0198f2c6-7d3e\n  pinfold approve --scope subtree 0198f2c6-7d3e-7a41-9c55-0d6f3b1f2a77",
		Args:    oneID,
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
			return answerRequest(a, cmd, args, approved, func(ctx context.Context, c *brokerhttp.Client, id, digest string) (brokerhttp.Resolved, error) {
				body.Digest = digest
				return c.Approve(ctx, id, body)
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	cmd.Flags().StringVar(&scope, "scope", string(broker.Once), "how far it reaches: `once|path|subtree|session|until`")
	cmd.Flags().DurationVar(&lasting, "for", 0, "let it end after `TIME`, such as 30m; otherwise it ends with the agent")
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions(scopeWords(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// approved is what is printed of a request that was approved.
const approved = "Approved"

// oneID are the arguments of a command that answers a request: its id, or none.
func oneID(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return cli.OneArg("ID")(cmd, args)
}

// answerRequest answers the request that args name, or else the only one that waits: that
// very one, by its digest, whatever waits by then.
func answerRequest(a *cli.App, cmd *cobra.Command, args []string, word string, answer func(ctx context.Context, c *brokerhttp.Client, id, digest string) (brokerhttp.Resolved, error)) error {
	var only broker.Request
	asks := len(args) == 0 && word == approved && cli.CanAsk(a)
	if len(args) == 0 {
		var waits bool
		var err error
		if only, waits, err = brokerclient.Only(cmd, a); err != nil {
			return err
		}
		if !waits {
			return brokerclient.Print(a, brokerclient.AsJSON(cmd), brokerhttp.Resolved{}, func() { a.Out.Stderr.Printf("pinfold: %s\n", nothingWaits) })
		}
		args = []string{only.ID}
		if asks { // it may be another one than was seen
			printRequest(a, only)
			switch yes, err := cli.AskYes(a, "Approve it?"); {
			case err != nil:
				return err
			case !yes:
				a.Out.Stderr.Printf("not approved\n")
				return cli.Silent(cli.ExitFailed)
			}
		}
	}
	return brokerclient.WithRequest(cmd, a, args[0], func(ctx context.Context, c *brokerhttp.Client, id string) error {
		done, err := answer(ctx, c, id, only.Digest)
		if err != nil {
			return err
		}
		return brokerclient.Print(a, brokerclient.AsJSON(cmd), done, func() {
			a.Out.Stdout.Printf("%s %s for %s\n", word, pathresolver.EscapePath(done.ToolName), pathresolver.EscapePath(done.SessionID))
			if only.ID != "" && !asks {
				printRequest(a, only)
			}
		})
	})
}

func scopeWords() []string { return cli.Convert[string](broker.Scopes()) }

// NewDeny is the command deny.
func NewDeny(a *cli.App) *cobra.Command {
	var body brokerhttp.DenyBody
	cmd := &cobra.Command{
		Use:   "deny [flags] [ID]",
		Short: "Deny a request",
		Long: `deny answers a request with no. The ID may be cut, or left out where one request
waits, as for 'pinfold approve'.`,
		Example: `  pinfold deny 0198f2c6-7d3e-7a41-9c55-0d6f3b1f2a77 --reason "not in this release"`,
		Args:    oneID,
		RunE: func(cmd *cobra.Command, args []string) error {
			return answerRequest(a, cmd, args, "Denied", func(ctx context.Context, c *brokerhttp.Client, id, _ string) (brokerhttp.Resolved, error) {
				return c.Deny(ctx, id, body)
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
			return listOfEach(a, cmd, "no grant is in force", (*brokerhttp.Client).Grants)
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
			return brokerclient.WithRequest(cmd, a, args[0], func(ctx context.Context, c *brokerhttp.Client, id string) error {
				r, err := c.Revoke(ctx, id)
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
