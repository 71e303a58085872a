package agents

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// crossChanges are what can be done to a list, and whether that takes a value.
var crossChanges = map[string]bool{"mode": true, "allow": true, "deny": true, "remove": true, "clear": false}

func newAgentsCross(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cross [flags] ID [mode MODE|allow PATTERN|deny PATTERN|remove PATTERN|clear]",
		Short: "Show or change to whom an agent may send",
		Long: `cross shows the cross_send lists that are in force for an agent, those of its
policies, what was set here, or the default, and changes what is set: mode sets bypass,
allowlist or denylist and keeps both lists, clear goes back to the default, which
is the agent's parent and its own sessions. What a policy restricts stays
restricted. Only the operator and those above the agent may change it.`,
		Example: "  pinfold agents cross docs\n  pinfold agents cross docs allow 'agent:reviewer:*'",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return cli.UsageError(errors.New("no ID is given"), cli.SeeHelp(cmd))
			case len(args) == 1:
				return nil
			}
			takes, known := crossChanges[args[1]]
			switch {
			case !known:
				return cli.UsageError(cli.UnknownWord("change", args[1], "mode", "allow", "deny", "remove", "clear"), "")
			case takes && len(args) != 3 || !takes && len(args) != 2:
				return cli.UsageError(errors.New("a change takes one value, and clear none"), cli.SeeHelp(cmd))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				if len(args) == 1 {
					x, err := c.Cross(ctx, args[0])
					if err != nil {
						return err
					}
					return brokerclient.Print(a, brokerclient.AsJSON(cmd), x, func() { printCross(a, x) })
				}
				change := brokerhttp.CrossBody{Change: args[1]}
				if len(args) == 3 {
					change.Value = args[2]
				}
				x, err := c.SetCross(ctx, args[0], change)
				if err != nil {
					return err
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), x, func() { printCross(a, x) })
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	return cmd
}

func printCross(a *cli.App, x brokerhttp.Crossed) {
	if x.Text != "" {
		a.Out.Stdout.Printf("%s\n", pathresolver.EscapePath(x.Text))
	}
	patterns := func(title string, list []string) {
		a.Out.Stdout.Printf("%s\n", title)
		if len(list) == 0 {
			a.Out.Stdout.Printf("  (none)\n")
		}
		for _, p := range list {
			a.Out.Stdout.Printf("  - %s\n", pathresolver.EscapePath(p))
		}
	}
	for _, list := range x.Cross.InForce {
		a.Out.Stdout.Printf("Agent cross_send config: %s mode\n", list.Mode)
		switch list.Mode {
		case permission.Allowlist:
			patterns("Allowed patterns:", list.Patterns)
		case permission.Denylist:
			patterns("Denied patterns:", list.Patterns)
		}
		a.Out.Stdout.Printf("Set by: %s\n", pathresolver.EscapePath(list.From))
	}
	if len(x.Cross.InForce) > 1 {
		a.Out.Stdout.Printf("A message passes each of these lists.\n")
	}
	// Changing the mode keeps both lists: the one that is not in force waits.
	if x.Cross.Mode != permission.Allowlist && len(x.Cross.Allowlist) > 0 {
		patterns("Kept for allowlist mode:", x.Cross.Allowlist)
	}
	if x.Cross.Mode != permission.Denylist && len(x.Cross.Denylist) > 0 {
		patterns("Kept for denylist mode:", x.Cross.Denylist)
	}
}
