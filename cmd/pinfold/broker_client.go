package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

// brokerClient finds the broker (D31). The operator, for whom nothing is set,
// gets the one that serves by default, or else the only run that has one.
func brokerClient(ctx context.Context) (*brokerhttp.Client, error) {
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
	return &exitError{code: exitFailed, err: err, hint: "'pinfold serve' starts one"}
}

// withBroker runs do with a client, and with a context that Ctrl-C ends.
func withBroker(cmd *cobra.Command, a *app, do func(context.Context, *brokerhttp.Client) error) error {
	return withClient(cmd, a, brokerClient, do)
}

// withSocket is withBroker for one that is known.
func withSocket(cmd *cobra.Command, a *app, socket string, do func(context.Context, *brokerhttp.Client) error) error {
	return withClient(cmd, a, func(context.Context) (*brokerhttp.Client, error) {
		return brokerhttp.NewClient(brokerhttp.Endpoint{Socket: socket})
	}, do)
}

func withClient(cmd *cobra.Command, a *app, find func(context.Context) (*brokerhttp.Client, error), do func(context.Context, *brokerhttp.Client) error) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c, err := find(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return brokerError(ctx, a, do(ctx, c))
}

// brokerError prints the refusals whose text is fixed to the letter as it is
// (X8, X12 to X14), and leaves other errors to the rules of output.go.
func brokerError(ctx context.Context, a *app, err error) error {
	var refused *broker.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return silent(exitSignal + int(syscall.SIGINT))
	case errors.As(err, &refused) && strings.HasPrefix(refused.Message, "[ERROR] "):
		a.out.stderr.printf("%s\n", escapeLines(refused.Message))
		return silent(exitFailed)
	case errors.As(err, new(*brokerhttp.UnreachableError)) && os.Getenv("PINFOLD_SOCKET") != "":
		return &exitError{code: exitFailed, err: err, hint: "PINFOLD_SOCKET names its socket, which is gone when the broker ends or the agent is fired: 'pinfold serve' starts a broker, and without the variable you are its operator"}
	}
	return err
}

// printAnswer prints v as JSON, or else what text prints.
func printAnswer(a *app, asJSON bool, v any, text func()) error {
	if asJSON {
		return writeJSON(a.out.stdout, v)
	}
	text()
	return nil
}

// jsonFlag gives cmd the flag --json.
func jsonFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("json", false, "print JSON, as docs/schema/broker.openapi.yaml describes it")
}

func asJSON(cmd *cobra.Command) bool {
	on, _ := cmd.Flags().GetBool("json") // every caller has the flag
	return on
}
