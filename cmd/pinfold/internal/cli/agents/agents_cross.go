package agents

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// crossChanges are what can be done to a list, and whether that takes a value.
var crossChanges = map[string]bool{"mode": true, "allow": true, "deny": true, "remove": true, "clear": false}

func newAgentsCross(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cross [flags] ID [mode MODE|allow PATTERN|deny PATTERN|remove PATTERN|clear]",
		Short: "Show or change to whom an agent may send",
		Long: `cross shows an agent's cross_send list, or changes it: mode sets bypass,
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
	if x.Cross.Mode == "" {
		a.Out.Stdout.Printf("Agent cross_send config: default (its parent, and its own sessions)\n")
		return
	}
	a.Out.Stdout.Printf("Agent cross_send config: %s mode\n", x.Cross.Mode)
	for _, list := range []struct {
		title    string
		patterns []string
	}{{"Allowed patterns:", x.Cross.Allowlist}, {"Denied patterns:", x.Cross.Denylist}} {
		a.Out.Stdout.Printf("%s\n", list.title)
		for _, p := range list.patterns {
			a.Out.Stdout.Printf("  - %s\n", pathresolver.EscapePath(p))
		}
	}
}
