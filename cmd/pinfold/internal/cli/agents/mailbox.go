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

func NewMailbox(a *cli.App) *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use:   "mailbox [flags]",
		Short: "Print your new messages, oldest first, and acknowledge them",
		Long: `mailbox prints the messages that were not delivered yet and says that you have
them. With --wait it waits for one where there is none, and you are idle
meanwhile.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				list, err := c.Mailbox(ctx, wait)
				if err != nil {
					return err
				}
				err = brokerclient.Print(a, brokerclient.AsJSON(cmd), brokerhttp.List[broker.Message]{Items: list}, func() {
					for _, m := range list {
						printMessage(a, m)
					}
				})
				if err != nil || len(list) == 0 {
					return err
				}
				ids := make([]string, len(list))
				for i, m := range list {
					ids[i] = m.ID
				}
				_, err = c.Ack(ctx, ids)
				return err
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until there is a message")
	return cmd
}

// printMessage prints one message: a line about it, its text indented by two
// spaces, so that no text passes for another message. The line tells what an
// agent says from what the broker itself asks or tells: an agent can write the
// words of a permission request too.
func printMessage(a *cli.App, m broker.Message) {
	from := m.SenderID
	if from == "" {
		from = "broker"
	}
	what := string(m.Verb)
	if m.Type != broker.TypeManager {
		what = string(m.Type)
	}
	a.Out.Stdout.Printf("%s  %s  %s from %s\n", m.ID, cli.Age(m.CreatedAt), what, pathresolver.EscapePath(from))
	a.Out.Stdout.Printf("%s\n", cli.Indent(cli.EscapeLines(m.Content)))
}
