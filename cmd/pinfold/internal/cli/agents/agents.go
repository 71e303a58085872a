package agents

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// New is the command agents.
func New(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List agents, show one, its sessions, and to whom it may send",
		Args:  cli.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAgentsList(a), newAgentsShow(a), newAgentsSessions(a), newAgentsCross(a))
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
							parent = broker.OperatorIdentity().String()
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
		Short: "Show an agent, the policy that it is held to, its tools, and its grants",
		Args:  cli.OneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				g, err := c.Agent(ctx, args[0])
				if err != nil {
					return err
				}
				h, err := c.Holding(ctx, args[0])
				if err != nil {
					return err
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), shownAgent{g, h}, func() { printAgent(a, g, h) })
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	return cmd
}

// shownAgent is an agent and what it is held to, as JSON.
type shownAgent struct {
	broker.Agent
	Holding broker.Holding `json:"holding"`
}

func printAgent(a *cli.App, g broker.Agent, h broker.Holding) {
	line := func(key, value string) {
		if value != "" {
			a.Out.Stdout.Printf("%-10s %s\n", key+":", pathresolver.EscapePath(value))
		}
	}
	line("id", g.ID)
	line("state", string(g.State))
	line("run by", g.Process)
	line("parent", cmp.Or(g.ParentID, broker.OperatorIdentity().String()))
	line("session", g.Session)
	line("directory", g.Cwd)
	line("task", g.Task)
	line("listed", toolsText(g.Tools))
	if !g.Until.IsZero() {
		line("until", cli.TimeText(g.Until))
	}
	line("model", g.Model)
	line("route", g.Route)
	line("policy", h.Policy+" ("+g.PolicyHash+")")
	for _, l := range h.Chain {
		line("  held to", l.Name+"  "+l.File)
	}
	byEffect := map[access.Effect][]string{}
	for _, t := range h.Tools {
		byEffect[t.Effect] = append(byEffect[t.Effect], t.Name)
	}
	line("tools", strings.Join(byEffect[access.Allow], " "))
	line("  asked", strings.Join(byEffect[access.Ask], " "))
	line("  refused", strings.Join(byEffect[access.Deny], " "))
	for _, grant := range h.Grants {
		line("granted", grantText(grant))
	}
	if g.State == broker.Exited || g.Exit != (broker.Exit{}) { // who was fired may have had no process
		line("exit", g.Exit.String())
	}
}

// toolsText is a list of tools, and what holds for the others.
func toolsText(list []string) string {
	if list == nil {
		return ""
	}
	others := "others are refused"
	named := slices.DeleteFunc(slices.Clone(list), func(name string) bool { return name == "ask:*" })
	if len(named) < len(list) {
		others = "others are asked for"
	}
	if len(named) == 0 {
		return "none; " + others
	}
	return strings.Join(named, ", ") + "; " + others
}

// NewStatus is the command status.
func NewStatus(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [flags]",
		Short: "Show who you are, the agents beneath you, and what waits",
		Long: `status shows you, each agent beneath you with its state, its age and how many of
its requests wait, and your queued messages. It acknowledges none: mailbox does.
Of the agents that have ended, and have nobody beneath them who has not, it shows the
last hundred; 'pinfold agents show ID' has each.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				s, err := c.Status(ctx)
				if err != nil {
					return err
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), s, func() { printStatus(a, s) })
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	return cmd
}

func printStatus(a *cli.App, s broker.Overview) {
	a.Out.Stdout.Printf("You: %s (%s)\nPending messages: %d\n", s.You, s.State, s.Pending)
	for _, g := range s.Agents {
		a.Out.Stdout.Printf("%s%s (%s)  %s  pending requests: %d\n", strings.Repeat("  ", g.Depth), g.ID, g.State, cli.Age(g.CreatedAt), g.Requests)
	}
	for _, m := range s.Messages {
		printMessage(a, m)
	}
}

// NewWait is the command wait.
func NewWait(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "wait [flags] ID",
		Aliases: []string{"await"}, // which it was called
		Short:   "Wait until a child agent goes idle or ends, and print how",
		Long: `wait waits until the agent ID waits for a message, has exited or was fired, and
prints that, with the last of its output. You are idle meanwhile: a message for
you ends the wait too, and mailbox has it.`,
		Args: cli.OneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				g, err := c.Await(ctx, args[0])
				if err != nil {
					return err
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), g, func() { printAwaited(a, g) })
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	return cmd
}

func printAwaited(a *cli.App, g broker.Agent) {
	switch g.State {
	case broker.Fired:
		a.Out.Stdout.Printf("%s was fired\n", g.ID)
	case broker.Exited:
		a.Out.Stdout.Printf("%s %s\n", g.ID, pathresolver.EscapePath(g.Exit.String()))
	default:
		a.Out.Stdout.Printf("%s is %s\n", g.ID, g.State)
	}
	if g.State == broker.Working {
		a.Out.Hint("a message ended the wait: 'pinfold mailbox' has it")
	}
	if g.Exit.Output != "" {
		a.Out.Stdout.Printf("Last output: %s\n", pathresolver.EscapePath(g.Exit.Output))
	}
}
