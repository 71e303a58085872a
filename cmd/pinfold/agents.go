package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

func newAgents(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List agents, show one, and say to whom it may send",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAgentsList(a), newAgentsShow(a), newAgentsCross(a))
	return cmd
}

func newAgentsList(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List you and the agents beneath you; to the operator, all",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withBroker(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				list, err := c.Agents(ctx)
				if err != nil {
					return err
				}
				return printAnswer(a, asJSON(cmd), brokerhttp.List[broker.Agent]{Items: list}, func() {
					for _, g := range list {
						parent := g.ParentID
						if parent == "" {
							parent = "-"
						}
						a.out.stdout.printf("%s  %s  %s  %s  %s\n", g.ID, g.State, parent, g.Session, age(g.CreatedAt))
					}
				})
			})
		},
	}
	jsonFlag(cmd)
	return cmd
}

func newAgentsShow(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show [flags] ID",
		Short: "Show an agent",
		Args:  oneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withBroker(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				g, err := c.Agent(ctx, args[0])
				if err != nil {
					return err
				}
				return printAnswer(a, asJSON(cmd), g, func() { printAgent(a, g) })
			})
		},
	}
	jsonFlag(cmd)
	return cmd
}

func printAgent(a *app, g broker.Agent) {
	line := func(key, value string) {
		if value != "" {
			a.out.stdout.printf("%-10s %s\n", key+":", pathresolver.EscapePath(value))
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
