package approvals

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/tuiinbox"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// NewRequests is the command requests.
func NewRequests(a *cli.App) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:   "requests [flags]",
		Short: "List the requests that wait for your answer, answer them at a screen, or make one",
		Long: `requests lists what waits for your answer; 'requests show' has one whole, with the
difference that a proposed write would make. The operator, who names no broker, sees
what waits at 'pinfold serve' and at every run with a broker of its own. With --watch it is an inbox on the
terminal: what is wanted, by whom, why, and the difference, live, to be answered
by a key.`,
		Example: "  pinfold requests\n  pinfold requests --watch\n  pinfold requests show 0198f2c6-7d3e-7a41-9c55-0d6f3b1f2a77",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch {
				return watchRequests(a, cmd)
			}
			return listOfEach(a, cmd, nothingWaits, (*brokerhttp.Client).Requests)
		},
	}
	brokerclient.JSONFlag(cmd)
	cmd.Flags().BoolVar(&watch, "watch", false, "show them on the terminal as they come, and answer them by keys")
	cmd.AddCommand(newRequestsShow(a), NewRequest(a))
	return cmd
}

// nothingWaits is said where no request does. It is no error.
const nothingWaits = "nothing waits for your answer"

// listOfEach prints what the brokers of the operator's list, oldest first, or else none.
func listOfEach(a *cli.App, cmd *cobra.Command, none string, of func(*brokerhttp.Client, context.Context) ([]broker.Request, error)) error {
	list := []broker.Request{}
	err := brokerclient.WithEach(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
		more, err := of(c, ctx)
		list = append(list, more...)
		return err
	})
	if err != nil && !errors.As(err, new(*brokerclient.SilentError)) {
		return err
	}
	slices.SortStableFunc(list, func(a, b broker.Request) int { return a.CreatedAt.Compare(b.CreatedAt) })
	printed := brokerclient.Print(a, brokerclient.AsJSON(cmd), brokerhttp.List[broker.Request]{Items: list}, func() {
		if len(list) == 0 && err == nil {
			a.Out.Stderr.Printf("pinfold: %s\n", none)
		}
		for _, r := range list {
			printRequest(a, r)
		}
	})
	return errors.Join(err, printed)
}

// printRequest prints a request, or a grant, on one line, and its reason on the
// next.
func printRequest(a *cli.App, r broker.Request) {
	esc := pathresolver.EscapePath
	state := cli.Age(r.CreatedAt)
	if r.Status != broker.Pending {
		state = string(r.Scope)
		if !r.Until.IsZero() {
			state += " until " + r.Until.Local().Format(time.DateTime)
		}
	}
	a.Out.Stdout.Printf("%s  %s  %s\n", r.ID, brokerclient.Line(r), state)
	for _, also := range r.Also {
		a.Out.Stdout.Printf("  and: %s '%s'\n", esc(string(also.Action)), esc(also.Resource))
	}
	if r.Reason != "" {
		a.Out.Stdout.Printf("  reason: %s\n", esc(r.Reason))
	}
}

// shownRequest is a request with what it would change.
type shownRequest struct {
	Request  broker.Request      `json:"request"`
	Proposal brokerhttp.Proposal `json:"proposal"`
}

func newRequestsShow(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show [flags] ID",
		Short: "Show one request whole, with what it would change",
		Long: `show prints a request and the difference that its call would make to the files as
they are now. Nothing is changed by it. The agent that asks, its manager and the
operator may look.`,
		Example: "  pinfold requests show 0198f2c6-7d3e-7a41-9c55-0d6f3b1f2a77",
		Args:    cli.OneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return brokerclient.WithRequest(cmd, a, args[0], func(ctx context.Context, c *brokerhttp.Client, id string) error {
				r, err := c.Request(ctx, id)
				if err != nil {
					return err
				}
				p, err := c.Proposal(ctx, r.ID)
				if err != nil {
					return err
				}
				return brokerclient.Print(a, brokerclient.AsJSON(cmd), shownRequest{r, p}, func() { printWhole(a, r, p) })
			})
		},
	}
	brokerclient.JSONFlag(cmd)
	return cmd
}

// printWhole prints all of a request. What the agent wrote is escaped, and the
// difference stands last: no text of it passes for a field.
func printWhole(a *cli.App, r broker.Request, p brokerhttp.Proposal) {
	line := func(key, value string) {
		if value != "" {
			a.Out.Stdout.Printf("%-8s %s\n", key+":", value)
		}
	}
	esc := pathresolver.EscapePath
	line("id", r.ID)
	line("status", string(r.Status))
	line("agent", esc(r.AgentID))
	line("what", esc(string(r.Action))+" '"+esc(r.Resource)+"'")
	for _, also := range r.Also {
		line("and", esc(string(also.Action))+" '"+esc(also.Resource)+"'")
	}
	line("tool", esc(r.Tool))
	line("reason", esc(r.Reason))
	line("asked", cli.Age(r.CreatedAt)+" ago")
	if !r.Deadline.IsZero() {
		line("ends", r.Deadline.Local().Format(time.DateTime))
	}
	if r.Status != broker.Pending {
		line("scope", string(r.Scope))
		line("answer", esc(r.Denial()))
	}
	if r.Input != "{}" {
		line("input", esc(r.Input))
	}
	line("note", esc(p.Note))
	for text := range strings.Lines(p.Diff) {
		a.Out.Stdout.Printf("  %s\n", diffLine(a, strings.TrimSuffix(text, "\n")))
	}
}

// diffLine is a line of a difference, in the colour of its kind. Tabs stay.
func diffLine(a *cli.App, text string) string {
	parts := strings.Split(text, "\t")
	for i := range parts {
		parts[i] = pathresolver.EscapePath(parts[i])
	}
	text = strings.Join(parts, "\t")
	switch {
	case strings.HasPrefix(text, "+"):
		return a.Out.Stdout.Paint(cli.ColourGood, text)
	case strings.HasPrefix(text, "-"):
		return a.Out.Stdout.Paint(cli.ColourBad, text)
	}
	return text
}

// watchRequests is `pinfold requests --watch`. It ends with success when its user
// leaves it.
func watchRequests(a *cli.App, cmd *cobra.Command) error {
	const instead = "without --watch the requests are listed, and 'pinfold approve' and 'pinfold deny' answer them"
	in, out := cli.File(a.Stdin), cli.File(a.Out.Stdout.Writer)
	switch {
	case brokerclient.AsJSON(cmd):
		return cli.UsageError(errors.New("--watch is for a person, and --json for a program: give one of them"), instead)
	case in == nil || out == nil || !cli.NewStream(in).Terminal || !cli.NewStream(out).Terminal:
		return cli.UsageError(errors.New("--watch needs a terminal to be shown on, and to read keys from"), instead)
	case os.Getenv("TERM") == "" || os.Getenv("TERM") == "dumb":
		return cli.UsageError(errors.New("--watch needs a terminal that can show a screen, and TERM says that this one cannot"), instead)
	}
	show := func(ctx context.Context, b tuiinbox.Broker) error {
		if _, err := b.Requests(ctx); err != nil { // nobody there is said before the screen is taken
			return err
		}
		return tuiinbox.Run(ctx, tuiinbox.Options{Broker: b, In: in, Out: out, Env: os.Environ()})
	}
	if brokerclient.Named() {
		return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error { return show(ctx, OneInbox{c}) })
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return brokerclient.Error(ctx, a, show(ctx, &brokerclient.Inbox{Find: brokerclient.Sockets}))
}

// OneInbox is that of the broker that was named.
type OneInbox struct{ *brokerhttp.Client }

var _, _ tuiinbox.Broker = OneInbox{}, (*brokerclient.Inbox)(nil)

// Agent is who made a request.
func (o OneInbox) Agent(ctx context.Context, r broker.Request) (broker.Agent, error) {
	return o.Client.Agent(ctx, r.AgentID)
}
