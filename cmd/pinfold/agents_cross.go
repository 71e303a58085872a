package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// crossChanges are what can be done to a list, and whether that takes a value.
var crossChanges = map[string]bool{"mode": true, "allow": true, "deny": true, "remove": true, "clear": false}

func newAgentsCross(a *app) *cobra.Command {
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
				return usageError(errors.New("no ID is given"), seeHelp(cmd))
			case len(args) == 1:
				return nil
			}
			takes, known := crossChanges[args[1]]
			switch {
			case !known:
				return usageError(unknownWord("change", args[1], "mode", "allow", "deny", "remove", "clear"), "")
			case takes && len(args) != 3 || !takes && len(args) != 2:
				return usageError(errors.New("a change takes one value, and clear none"), seeHelp(cmd))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return withBroker(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				if len(args) == 1 {
					x, err := c.Cross(ctx, args[0])
					if err != nil {
						return err
					}
					return printAnswer(a, asJSON(cmd), x, func() { printCross(a, x) })
				}
				change := brokerhttp.CrossBody{Change: args[1]}
				if len(args) == 3 {
					change.Value = args[2]
				}
				x, err := c.SetCross(ctx, args[0], change)
				if err != nil {
					return err
				}
				return printAnswer(a, asJSON(cmd), x, func() { printCross(a, x) })
			})
		},
	}
	jsonFlag(cmd)
	return cmd
}

func printCross(a *app, x brokerhttp.Crossed) {
	if x.Text != "" {
		a.out.stdout.printf("%s\n", pathresolver.EscapePath(x.Text))
	}
	if x.Cross.Mode == "" {
		a.out.stdout.printf("Agent cross_send config: default (its parent, and its own sessions)\n")
		return
	}
	a.out.stdout.printf("Agent cross_send config: %s mode\n", x.Cross.Mode)
	for _, list := range []struct {
		title    string
		patterns []string
	}{{"Allowed patterns:", x.Cross.Allowlist}, {"Denied patterns:", x.Cross.Denylist}} {
		a.out.stdout.printf("%s\n", list.title)
		for _, p := range list.patterns {
			a.out.stdout.printf("  - %s\n", pathresolver.EscapePath(p))
		}
	}
}
