package brokerclient

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// A user may have several brokers: the one that serves by default, and one for
// each run whose policy wants something asked for. Their operator is the same
// person.

// runSockets are the operator's sockets of the runs whose brokers answer,
// the latest first.
func runSockets(ctx context.Context) []string {
	dir, err := state.RunsDir()
	if err != nil {
		return nil
	}
	runs, err := os.ReadDir(dir)
	if err != nil {
		return nil // there was never one, as far as can be seen
	}
	var sockets []string
	for _, run := range slices.Backward(runs) {
		if socket := brokerhttp.OperatorSocket(filepath.Join(dir, run.Name())); brokerhttp.Listens(ctx, socket) {
			sockets = append(sockets, socket)
		}
	}
	return sockets
}

// operatorSocket is the socket of the broker that is meant where none is named.
func operatorSocket(ctx context.Context) (string, error) {
	dir, err := state.BrokerDir()
	if err != nil {
		return "", err
	}
	socket := brokerhttp.OperatorSocket(dir)
	if _, missing := os.Lstat(socket); !errors.Is(missing, fs.ErrNotExist) {
		return socket, nil
	}
	runs := runSockets(ctx)
	switch len(runs) {
	case 0:
		return "", noBroker(errors.New("no broker serves: neither PINFOLD_SOCKET nor PINFOLD_URL is set, and there is no '" + pathresolver.EscapePath(socket) + "'"))
	case 1:
		return runs[0], nil
	}
	return "", &cli.ExitError{Code: cli.ExitFailed, Err: fmt.Errorf("%d runs have a broker: which one is meant?", len(runs)),
		Hint: "PINFOLD_SOCKET says which:\n  " + strings.Join(runs, "\n  ")}
}

// Sockets are all brokers of the operator's that answer.
func Sockets(ctx context.Context) (sockets []string) {
	if dir, err := state.BrokerDir(); err == nil {
		if socket := brokerhttp.OperatorSocket(dir); brokerhttp.Listens(ctx, socket) {
			sockets = append(sockets, socket)
		}
	}
	return append(sockets, runSockets(ctx)...)
}

// WithRequest is With for a command about one request. An operator who names no broker
// need not know which of several has the request.
func WithRequest(cmd *cobra.Command, a *cli.App, id string, do func(context.Context, *brokerhttp.Client) error) error {
	if _, err := brokerhttp.FromEnvironment(os.Getenv); !errors.Is(err, brokerhttp.ErrNoBroker) {
		return With(cmd, a, do)
	}
	var none error // the last one's word that it knows no such request
	for _, socket := range Sockets(cmd.Context()) {
		has := false
		err := withSocket(cmd, a, socket, func(ctx context.Context, c *brokerhttp.Client) error {
			_, none = c.Request(ctx, id)
			var refused *broker.Error
			has = none == nil || errors.As(none, &refused) && refused.Code != broker.CodeNotFound
			if !has {
				return nil // nor has a run that has ended meanwhile
			}
			return do(ctx, c)
		})
		if has || err != nil {
			return err
		}
	}
	if errors.As(none, new(*broker.Error)) {
		return Error(cmd.Context(), a, none)
	}
	return With(cmd, a, do)
}

// WithEach calls do for each of the operator's brokers, or only for the one that is
// named.
func WithEach(cmd *cobra.Command, a *cli.App, do func(context.Context, *brokerhttp.Client) error) error {
	_, err := brokerhttp.FromEnvironment(os.Getenv)
	sockets := Sockets(cmd.Context())
	if !errors.Is(err, brokerhttp.ErrNoBroker) || len(sockets) == 0 {
		return With(cmd, a, do)
	}
	for _, socket := range sockets {
		if err := withSocket(cmd, a, socket, do); err != nil && !errors.As(err, new(*brokerhttp.UnreachableError)) {
			return err // that a run has ended meanwhile is fine
		}
	}
	return nil
}
