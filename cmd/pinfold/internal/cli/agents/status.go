package agents

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
)

func NewStatus(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [flags]",
		Short: "Show who you are, the agents beneath you, and what waits",
		Long: `status shows you, each agent beneath you with its state, its age and how many of
its requests wait, and your queued messages. It acknowledges none: mailbox does.`,
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
	state := s.State
	if state == "" {
		state = broker.Working // the operator is whoever asks
	}
	a.Out.Stdout.Printf("You: %s (%s)\nPending messages: %d\n", s.You, state, s.Pending)
	for _, g := range s.Reports {
		a.Out.Stdout.Printf("%s%s (%s)  %s  pending requests: %d\n", strings.Repeat("  ", g.Depth), g.ID, g.State, cli.Age(g.CreatedAt), g.Requests)
	}
	for _, m := range s.Messages {
		printMessage(a, m)
	}
}
