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
	"time"

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

var errNone = errors.New("no broker serves")

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
		return "", noBroker(fmt.Errorf("%w: neither PINFOLD_SOCKET nor PINFOLD_URL is set, and there is no '%s'", errNone, pathresolver.EscapePath(socket)))
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

// Named reports whether the environment names a broker, or names one wrongly. The
// operator need not name any.
func Named() bool {
	_, err := brokerhttp.FromEnvironment(os.Getenv)
	return !errors.Is(err, brokerhttp.ErrNoBroker)
}

const (
	// idLength is that of a request's id, a UUID.
	idLength = 36
	// leastID is how much of an id has to be given: the time of the request, to the
	// millisecond. Less may be of another request than the one that was read, where that
	// was of a run that has ended.
	leastID = len("0198f2c6-7d3c")
)

// isBegun reports whether a word may be the beginning of an id.
func isBegun(word string) bool {
	return len(word) >= leastID && len(word) < idLength && strings.Trim(word, "0123456789abcdef-") == ""
}

// WithRequest is With for a command about one request, by its id or the beginning of that.
// An operator who names no broker need not know which of several has the request.
func WithRequest(cmd *cobra.Command, a *cli.App, id string, do func(ctx context.Context, c *brokerhttp.Client, id string) error) error {
	if isBegun(id) {
		whole, err := wholeID(cmd, a, id)
		if err != nil {
			return err
		}
		id = whole
	}
	if Named() {
		return With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error { return do(ctx, c, id) })
	}
	var none error   // the last one's word that it knows no such request
	var silent error // one that says nothing may know it
	for _, socket := range Sockets(cmd.Context()) {
		has := false
		err := withSocket(cmd, a, socket, func(ctx context.Context, c *brokerhttp.Client) error {
			asked, cancel := context.WithTimeout(ctx, lookTime)
			_, none = c.Request(asked, id)
			late := errors.Is(asked.Err(), context.DeadlineExceeded)
			cancel()
			if late {
				silent = &SilentError{socket}
				return nil
			}
			var refused *broker.Error
			has = none == nil || errors.As(none, &refused) && refused.Code != broker.CodeNotFound
			if !has {
				return nil // nor has a run that has ended meanwhile
			}
			return do(ctx, c, id)
		})
		if has || err != nil {
			return err
		}
	}
	if silent != nil {
		return silent
	}
	if errors.As(none, new(*broker.Error)) {
		return Error(cmd.Context(), a, none)
	}
	return With(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error { return do(ctx, c, id) })
}

// wholeID is the only id that begins so, of all requests on record: an ended one counts,
// so that what began its id never means another request. Where there is none it is begin.
func wholeID(cmd *cobra.Command, a *cli.App, begin string) (string, error) {
	var found []broker.Request
	err := WithEach(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
		l, err := c.FindRequests(ctx, begin)
		found = append(found, l.Items...)
		return err
	})
	switch {
	case err != nil || len(found) == 0:
		return begin, err
	case len(found) == 1:
		return found[0].ID, nil
	}
	return "", tooMany("'"+begin+"' begins the ids of several requests", found)
}

// Only is the one request that waits for the caller's answer; ok is false where none does.
// Where several do, or a broker does not say, it is an error.
func Only(cmd *cobra.Command, a *cli.App) (r broker.Request, ok bool, err error) {
	var waiting []broker.Request
	more := false
	err = WithEach(cmd, a, func(ctx context.Context, c *brokerhttp.Client) error {
		l, err := c.FindRequests(ctx, "")
		waiting, more = append(waiting, l.Items...), more || l.More
		return err
	})
	switch {
	case err != nil || len(waiting) == 0 && !more:
		return r, false, err
	case len(waiting) > 1 || more:
		return r, false, tooMany("several requests wait: which one is meant?", waiting)
	}
	return waiting[0], true, nil
}

// maxTold bounds the requests that an error lists.
const maxTold = 10

// tooMany is the error of a command that would have to choose.
func tooMany(text string, of []broker.Request) error {
	slices.SortStableFunc(of, func(a, b broker.Request) int { return a.CreatedAt.Compare(b.CreatedAt) })
	hint := "name one by its id:"
	for i, r := range of {
		if i == maxTold {
			hint += fmt.Sprintf("\n  and %d more: 'pinfold requests' lists them", len(of)-i)
			break
		}
		hint += "\n  " + r.ID + "  " + Line(r)
	}
	return &cli.ExitError{Code: cli.ExitFailed, Err: errors.New(text), Hint: hint}
}

// Line says on one line who asks for what.
func Line(r broker.Request) string {
	esc := pathresolver.EscapePath
	return esc(r.AgentID) + "  " + esc(string(r.Action)) + " '" + esc(r.Resource) + "'"
}

// WithEach calls do for each of the operator's brokers, or only for the one that is
// named, each within lookTime. That an operator has none is no error: then there is nothing
// to do. The error is a *SilentError where one of several does not answer and the others do.
func WithEach(cmd *cobra.Command, a *cli.App, do func(context.Context, *brokerhttp.Client) error) error {
	if Named() {
		return With(cmd, a, do)
	}
	sockets := Sockets(cmd.Context())
	if len(sockets) == 0 {
		_, err := operatorSocket(cmd.Context())
		if errors.Is(err, errNone) {
			return nil
		}
		return With(cmd, a, do) // there is one, which does not answer
	}
	var silent error
	for _, socket := range sockets {
		late := false
		err := withSocket(cmd, a, socket, func(ctx context.Context, c *brokerhttp.Client) error {
			ctx, cancel := context.WithTimeout(ctx, lookTime)
			defer cancel()
			err := do(ctx, c)
			late = errors.Is(ctx.Err(), context.DeadlineExceeded)
			return err
		})
		switch {
		case err == nil:
		case late:
			silent = &SilentError{socket}
		case errors.As(err, new(*brokerhttp.UnreachableError)) && !brokerhttp.Listens(cmd.Context(), socket):
			// That a run has ended meanwhile is fine.
		default:
			return err
		}
	}
	return silent
}

// lookTime is how long one of several brokers may take to say what waits: the process of
// one may be stopped.
const lookTime = 5 * time.Second

// SilentError is that of a broker that listens and says nothing.
type SilentError struct{ Socket string }

func (e *SilentError) Error() string {
	return fmt.Sprintf("the broker at '%s' says nothing: its process is stopped or busy", pathresolver.EscapePath(e.Socket))
}
