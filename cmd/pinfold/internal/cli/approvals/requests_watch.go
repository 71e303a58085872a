package approvals

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/tuiinbox"
)

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
	_, err := brokerhttp.FromEnvironment(os.Getenv)
	if errors.Is(err, brokerhttp.ErrNoBroker) && len(brokerclient.Sockets(cmd.Context())) > 0 {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return brokerclient.Error(ctx, a, show(ctx, &inboxes{find: brokerclient.Sockets}))
	}
	return brokerclient.With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error { return show(ctx, OneInbox{c}) })
}
