package agents

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// NewExplain is the command explain.
func NewExplain(a *cli.App) *cobra.Command {
	var tool, input string
	cmd := &cobra.Command{
		Use:   "explain [flags] AGENT ACTION RESOURCE",
		Short: "Say what would be decided about a request of an agent, and by which rule",
		Long: `explain asks the broker what it would decide now, by the agent's policy, what was
granted to it, and who is whose manager. Nothing is done, used up or recorded. It
exits with 0 when the request is allowed, and with 1 when it is not or has to be
asked for. RESOURCE is a path in the agent's directory, an agent's id or session
key, or a tool. Where no --tool is named, it is the one that the broker itself decides
with: nexus_send for a message, which an id alone sends to agent:ID:main. You, the
agents above it and the agent itself may ask.
'pinfold policy explain' asks a policy that no agent has yet.`,
		Example: "  pinfold explain worker fs.write src/main.go\n  pinfold explain worker msg.send boss",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 3 {
				return cli.UsageError(errors.New("explain takes an AGENT, an ACTION and a RESOURCE"), cli.SeeHelp(cmd))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var e broker.Explained
			err := brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) (err error) {
				e, err = c.Explain(ctx, args[0], access.Request{Action: access.Action(args[1]), Resource: args[2], Tool: tool, Input: []byte(input)})
				if err != nil {
					return err
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), e, func() { printExplained(a, e) })
			})
			if err == nil && e.Effect != access.Allow {
				err = cli.Silent(cli.ExitFailed)
			}
			return err
		},
	}
	brokerclient.JSONFlag(cmd)
	cmd.Flags().StringVar(&tool, "tool", "", "the `NAME` of the tool through which it asks, if not the broker's own")
	cmd.Flags().StringVar(&input, "input", "", "the arguments of the call, as `JSON`: what was granted once is for exactly these")
	return cmd
}

func printExplained(a *cli.App, e broker.Explained) {
	esc := pathresolver.EscapePath
	out := a.Out.Stdout
	colour := cli.ColourBad
	if e.Effect == access.Allow {
		colour = cli.ColourGood
	}
	out.Printf("%s: %s '%s'\n", out.Paint(colour, string(e.Effect)), e.Action, esc(e.Resource))
	for line := range strings.Lines(e.Text) {
		out.Printf("  %s\n", esc(strings.TrimRight(line, "\n")))
	}
	out.Printf("  agent '%s', child of '%s', policy '%s' (%s)\n", esc(e.Agent), esc(e.Parent), esc(e.Policy), cli.ShortHash(e.PolicyHash))
	for _, g := range e.Grants {
		out.Printf("  granted: %s\n", grantText(g))
	}
	for _, s := range e.Steps {
		says, where, layer := string(s.Effect), "", s.Layer
		if says == "" {
			says = "says nothing"
		}
		if s.Rule != "" {
			where = " by " + s.Rule + " (" + s.Source + ")"
		}
		if layer == "" {
			layer = "no layer speaks"
		}
		out.Printf("  %-10s %s: %s%s\n", s.Stage, esc(layer), says, esc(where))
	}
}

// grantText is a grant on one line.
func grantText(g broker.Request) string {
	by := g.Resolver
	text := g.ID + "  " + string(g.Action) + " '" + g.Resource + "'  " + string(g.Scope)
	if by != "" {
		text += "  by " + by
	}
	if !g.Until.IsZero() {
		text += "  until " + cli.TimeText(g.Until)
	}
	return pathresolver.EscapePath(text)
}
