package brokerclient

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
)

// Find finds the broker that the environment names. For the operator, whose
// environment names none, it is the broker that serves by default, or else that of the
// only run that has one.
func Find(ctx context.Context) (*brokerhttp.Client, error) {
	at, err := brokerhttp.FromEnvironment(os.Getenv)
	if errors.Is(err, brokerhttp.ErrNoBroker) {
		at.Socket, err = operatorSocket(ctx)
	}
	if err != nil {
		return nil, err
	}
	return brokerhttp.NewClient(at)
}

func noBroker(err error) error {
	return &cli.ExitError{Code: cli.ExitFailed, Err: err, Hint: "'pinfold serve' starts one; a run that asks has one of its own, until it ends"}
}

// With runs do with a client, and with a context that Ctrl-C ends.
func With(cmd *cobra.Command, a *cli.App, do func(context.Context, *brokerhttp.Client) error) error {
	return WithClient(cmd, a, Find, do)
}

// withSocket is With for a broker whose socket is known.
func withSocket(cmd *cobra.Command, a *cli.App, socket string, do func(context.Context, *brokerhttp.Client) error) error {
	return WithClient(cmd, a, func(context.Context) (*brokerhttp.Client, error) {
		return brokerhttp.NewClient(brokerhttp.Endpoint{Socket: socket})
	}, do)
}

// WithClient runs do with the client that find finds, and with a context that Ctrl-C
// ends.
func WithClient(cmd *cobra.Command, a *cli.App, find func(context.Context) (*brokerhttp.Client, error), do func(context.Context, *brokerhttp.Client) error) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c, err := find(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return Error(ctx, a, do(ctx, c))
}

// Error prints a refusal whose text is fixed to the letter as it is; other errors
// follow the rules in output.go.
func Error(ctx context.Context, a *cli.App, err error) error {
	var refused *broker.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return cli.Silent(cli.ExitSignal + int(syscall.SIGINT))
	case errors.As(err, &refused) && strings.HasPrefix(refused.Message, "[ERROR] "):
		a.Out.Stderr.Printf("%s\n", cli.EscapeLines(refused.Message))
		return cli.Silent(cli.ExitFailed)
	case errors.As(err, &refused) && strings.HasPrefix(refused.Message, "Approval not found: "):
		return &cli.ExitError{Code: cli.ExitFailed, Err: err, Hint: "'pinfold requests' lists what waits; of an id the first " + strconv.Itoa(leastID) + " characters are enough"}
	case errors.As(err, new(*brokerhttp.UnreachableError)) && os.Getenv("PINFOLD_SOCKET") != "":
		return &cli.ExitError{Code: cli.ExitFailed, Err: err, Hint: "PINFOLD_SOCKET names its socket, which is gone when the broker ends or the agent is fired: 'pinfold serve' starts a broker, and without the variable you are its operator"}
	}
	return err
}

// Print prints v as JSON, or else what text prints.
func Print(a *cli.App, asJSON bool, v any, text func()) error {
	if asJSON {
		return cli.WriteJSON(a.Out.Stdout, v)
	}
	text()
	return nil
}

// JSONFlag gives cmd the flag --json.
func JSONFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("json", false, "print JSON, as docs/schema/broker.openapi.yaml describes it")
}

// AsJSON reports whether --json was given.
func AsJSON(cmd *cobra.Command) bool {
	on, _ := cmd.Flags().GetBool("json") // every caller has the flag
	return on
}
