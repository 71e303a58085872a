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

func New(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List agents, show one, and say to whom it may send",
		Args:  cli.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAgentsList(a), newAgentsShow(a), newAgentsCross(a))
	return cmd
}

func newAgentsList(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List you and the agents beneath you; to the operator, all",
		Args:  cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				list, err := c.Agents(ctx)
				if err != nil {
					return err
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), brokerhttp.List[broker.Agent]{Items: list}, func() {
					for _, g := range list {
						parent := g.ParentID
						if parent == "" {
							parent = "-"
						}
						a.Out.Stdout.Printf("%s  %s  %s  %s  %s\n", g.ID, g.State, parent, g.Session, cli.Age(g.CreatedAt))
					}
				})
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	return cmd
}

func newAgentsShow(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show [flags] ID",
		Short: "Show an agent",
		Args:  cli.OneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				g, err := c.Agent(ctx, args[0])
				if err != nil {
					return err
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), g, func() { printAgent(a, g) })
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	return cmd
}

func printAgent(a *cli.App, g broker.Agent) {
	line := func(key, value string) {
		if value != "" {
			a.Out.Stdout.Printf("%-10s %s\n", key+":", pathresolver.EscapePath(value))
		}
	}
	line("id", g.ID)
	line("state", string(g.State))
	line("parent", g.ParentID)
	line("session", g.Session)
	line("directory", g.Cwd)
	line("task", g.Task)
	line("model", g.Model)
	line("policy", g.PolicyHash)
	if g.State == broker.Exited {
		line("exit", g.Exit.String())
	}
}
