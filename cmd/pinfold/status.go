package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

func newStatus(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [flags]",
		Short: "Show who you are, the agents beneath you, and what waits",
		Long: `status shows you, each agent beneath you with its state, its age and how many of
its requests wait, and your queued messages. It acknowledges none: mailbox does.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withBroker(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				s, err := c.Status(ctx)
				if err != nil {
					return err
				}
				return printAnswer(a, asJSON(cmd), s, func() { printStatus(a, s) })
			})
		},
	}
	jsonFlag(cmd)
	return cmd
}

func printStatus(a *app, s broker.Overview) {
	state := s.State
	if state == "" {
		state = broker.Working // the operator is whoever asks
	}
	a.out.stdout.printf("You: %s (%s)\nPending messages: %d\n", s.You, state, s.Pending)
	for _, g := range s.Reports {
		a.out.stdout.printf("%s%s (%s)  %s  pending requests: %d\n", strings.Repeat("  ", g.Depth), g.ID, g.State, age(g.CreatedAt), g.Requests)
	}
	for _, m := range s.Messages {
		printMessage(a, m)
	}
}
