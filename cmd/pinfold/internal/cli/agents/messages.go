package agents

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// NewTell is the command tell.
func NewTell(a *cli.App) *cobra.Command {
	var body brokerhttp.SendBody
	var verb string
	var wait bool
	cmd := &cobra.Command{
		Use:   "tell [flags] KEY TEXT|-",
		Short: "Send a message to an agent, by its session key",
		Long: `tell sends TEXT, or with - what standard input holds, to the agent with a session
key such as agent:coder:main. The policy's rules about targets and the sender's
cross_send list decide whether it may. With --type ask --wait it waits for the
answer, through restarts of the broker, and prints that.`,
		Example: "  pinfold tell agent:coder:main 'the tests are red'\n  pinfold tell --type ask agent:boss:main 'may I bump the version?'",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.UsageError(errors.New("tell takes a KEY and a TEXT"), cli.SeeHelp(cmd))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			body.To, body.Content, body.Verb = args[0], args[1], broker.Verb(verb)
			if wait && body.Verb != broker.VerbAsk {
				return cli.UsageError(errors.New("--wait is for --type ask: nothing else is answered"), cli.SeeHelp(cmd))
			}
			if args[1] == "-" {
				data, err := io.ReadAll(a.Stdin)
				if err != nil {
					return err
				}
				body.Content = string(data)
			}
			return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
				sent, err := c.Send(ctx, body)
				if err != nil {
					return err
				}
				if wait {
					return awaitAnswer(ctx, a, cmd, c, sent)
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), sent, func() {
					a.Out.Stdout.Printf("%s\n", pathresolver.EscapePath(sent.Text))
				})
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	cmd.Flags().StringVar(&verb, "type", string(broker.VerbSend), "what the message wants: `send|contextualize|execute|ask|answer`")
	cmd.Flags().StringVar(&body.ReplyTo, "reply-to", "", "of an answer: the `ID` of the message that asked")
	cmd.Flags().BoolVar(&wait, "wait", false, "with --type ask: wait for the answer, and print it")
	_ = cmd.RegisterFlagCompletionFunc("type", cobra.FixedCompletions(cli.Convert[string](broker.Verbs()), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// awaitAnswer says what was sent, waits for its answer, and prints and
// acknowledges that.
func awaitAnswer(ctx context.Context, a *cli.App, cmd *cobra.Command, c *brokerhttp.Client, sent broker.Receipt) error {
	a.Out.Stderr.Printf("%s\n", pathresolver.EscapePath(sent.Text))
	m, err := c.AwaitAnswer(ctx, sent.Message.ID)
	if err != nil {
		return err
	}
	if err := brokerclient.Print(a, brokerclient.AsJSON(cmd), m, func() { printMessage(a, m) }); err != nil {
		return err
	}
	_, err = c.Ack(ctx, []string{m.ID})
	return err
}

// NewMailbox is the command mailbox.
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
	if m.Session != "" && m.Session != "agent:"+m.RecipientID+":main" {
		from += " to " + m.Session
	}
	a.Out.Stdout.Printf("%s  %s  %s from %s\n", m.ID, cli.Age(m.CreatedAt), what, pathresolver.EscapePath(from))
	a.Out.Stdout.Printf("%s\n", cli.Indent(cli.EscapeLines(m.Content)))
}
