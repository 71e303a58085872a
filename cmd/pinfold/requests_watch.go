package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/tuiinbox"
)

// watchRequests is `pinfold requests --watch`. It ends with success when its user
// leaves it.
func watchRequests(a *app, cmd *cobra.Command) error {
	const instead = "without --watch the requests are listed, and 'pinfold approve' and 'pinfold deny' answer them"
	in, out := file(a.stdin), file(a.out.stdout.Writer)
	switch {
	case asJSON(cmd):
		return usageError(errors.New("--watch is for a person, and --json for a program: give one of them"), instead)
	case in == nil || out == nil || !newStream(in).terminal || !newStream(out).terminal:
		return usageError(errors.New("--watch needs a terminal to be shown on, and to read keys from"), instead)
	case os.Getenv("TERM") == "" || os.Getenv("TERM") == "dumb":
		return usageError(errors.New("--watch needs a terminal that can show a screen, and TERM says that this one cannot"), instead)
	}
	show := func(ctx context.Context, b tuiinbox.Broker) error {
		if _, err := b.Requests(ctx); err != nil { // nobody there is said before the screen is taken
			return err
		}
		return tuiinbox.Run(ctx, tuiinbox.Options{Broker: b, In: in, Out: out, Env: os.Environ()})
	}
	_, err := brokerhttp.FromEnvironment(os.Getenv)
	if errors.Is(err, brokerhttp.ErrNoBroker) && len(operatorSockets(cmd.Context())) > 0 {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return brokerError(ctx, a, show(ctx, &inboxes{find: operatorSockets}))
	}
	return withBroker(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error { return show(ctx, oneInbox{c}) })
}
