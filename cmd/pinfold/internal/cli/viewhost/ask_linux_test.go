package viewhost

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/broker/sqlitestore"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/child"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// asking is a broker with an agent that it has hired, and whom the agent's view asks.
type asking struct {
	operator *brokerhttp.Client
	own      *brokerhttp.Client // the view's
	view     *Asker
	served   net.Conn // the broker's half of the view's connection

	interrupted, over chan struct{}
}

func ask(t *testing.T) *asking {
	t.Helper()
	a := &asking{interrupted: make(chan struct{}, 1), over: make(chan struct{})}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	store, err := sqlitestore.Open(t.Context(), filepath.Join(dir, "broker.db"))
	require.NoError(t, err)
	b, err := broker.New(t.Context(), broker.Options{Store: store})
	require.NoError(t, err)
	var launched brokerhttp.Launch
	srv, err := brokerhttp.New(t.Context(), b, brokerhttp.Options{Dir: dir, Launch: func(_ context.Context, l brokerhttp.Launch) error {
		launched = l
		return nil
	}})
	require.NoError(t, err)
	a.operator, err = brokerhttp.NewClient(brokerhttp.Endpoint{Socket: brokerhttp.OperatorSocket(dir)})
	require.NoError(t, err)
	_, err = a.operator.Hire(t.Context(), brokerhttp.HireBody{
		ID: "kid", Cwd: t.TempDir(), Command: []string{"true"},
		Policy: &brokerhttp.Text{Name: "p.yaml", Text: "version: 1\nextends: sandboxed\nfs: {write: [docs], ask_write: [src]}\n"},
	})
	require.NoError(t, err)
	var theirs *os.File
	a.served, theirs, err = child.Pair("asks")
	require.NoError(t, err)
	launched.Serve(a.served)
	conn, err := net.FileConn(theirs)
	require.NoError(t, err)
	require.NoError(t, theirs.Close())
	a.own, err = brokerhttp.NewConnClient(conn)
	require.NoError(t, err)
	a.view = Join(a.own, "kid", 1, func() { a.interrupted <- struct{}{} }, func() { close(a.over) })
	t.Cleanup(func() {
		a.view.Close()
		a.own.Close()
		a.operator.Close()
		require.NoError(t, srv.Close())
		b.Close()
		require.NoError(t, store.Close())
	})
	return a
}

// pending waits until so many requests are.
func (a *asking) pending(t *testing.T, n int) []broker.Request {
	t.Helper()
	var rows []broker.Request
	require.Eventually(t, func() (ok bool) {
		var err error
		rows, err = a.operator.Requests(t.Context())
		return err == nil && len(rows) == n
	}, time.Minute, 5*time.Millisecond)
	return rows
}

func write(place string, wait bool) sandboxfs.AskRequest {
	return sandboxfs.AskRequest{
		Accesses: []access.Access{{Action: access.FSWrite, Resource: place}},
		Syscall:  "open", Program: "sh", PID: 1, Wait: wait,
	}
}

// A view knows what its agent is granted as soon as whoever granted it does, and later
// what is taken back; who was fired is told nothing more.
func TestAskerHearsOfGrants(t *testing.T) {
	w := ask(t)
	a := access.Access{Action: access.FSWrite, Resource: "src/sub/a"}
	require.False(t, w.view.Granted(a))
	require.Error(t, w.view.Ask(t.Context(), write("src/sub", false)), "it does not wait, and leaves a request behind")
	rows := w.pending(t, 1)
	_, err := w.operator.Approve(t.Context(), rows[0].ID, brokerhttp.ApproveBody{Scope: broker.Subtree})
	require.NoError(t, err)
	require.True(t, w.view.Granted(a), "at once, whatever is remembered")
	require.NoError(t, w.view.Ask(t.Context(), write(a.Resource, true)))
	require.NoError(t, w.view.Record(t.Context(), write(a.Resource, false)), "granted already")

	_, err = w.operator.Revoke(t.Context(), rows[0].ID)
	require.NoError(t, err)
	require.Error(t, w.view.Ask(t.Context(), write(a.Resource, false)), "at once, whatever is remembered")
	require.Eventually(t, func() bool { return !w.view.Granted(a) }, time.Minute, 5*time.Millisecond)

	_, err = w.operator.Interrupt(t.Context(), "kid")
	require.NoError(t, err)
	<-w.interrupted
	_, err = w.operator.Fire(t.Context(), "kid")
	require.NoError(t, err)
	<-w.over
	require.Error(t, w.view.Ask(t.Context(), write("docs/a", false)))
}

// Of the opens that wait at once there is a bound: the next one is answered now.
func TestAskerBoundsWaits(t *testing.T) {
	w := ask(t)
	killed, kill := context.WithCancel(t.Context())
	waiting := make(chan error, 1)
	go func() { waiting <- w.view.Ask(killed, write("src/a", true)) }()
	w.pending(t, 1)
	require.Error(t, w.view.Ask(t.Context(), write("src/b", true)))
	kill()
	require.ErrorIs(t, <-waiting, context.Canceled)
	w.pending(t, 2) // each can be approved and tried again
}

// Anything else than a yes is a no: also that nobody is there any more who answers,
// which is said to whoever waits.
func TestAskerWithoutBroker(t *testing.T) {
	w := ask(t)
	allowed := write("docs/a", false)
	require.NoError(t, w.view.Ask(t.Context(), allowed), "the control")
	waiting := make(chan error, 1)
	go func() { waiting <- w.view.Ask(t.Context(), write("src/a", true)) }()
	w.pending(t, 1)
	require.NoError(t, w.served.Close())
	require.ErrorContains(t, <-waiting, "the broker does not answer")
	require.Error(t, w.view.Ask(t.Context(), allowed))
	require.Error(t, w.view.Record(t.Context(), allowed))
	require.False(t, w.view.Granted(allowed.Accesses[0]))
	select {
	case <-w.over:
		require.Fail(t, "it was not fired")
	default:
	}
}

// What a name would become on the way is another name, and is not asked about. The
// program's name is only shown.
func TestAskerNamesNoUTF8(t *testing.T) {
	w := ask(t)
	for _, q := range []sandboxfs.AskRequest{write("docs/\xff", false), {Accesses: append(write("docs/a", false).Accesses, write("docs/\xfe", false).Accesses...)}} {
		require.ErrorContains(t, w.view.Ask(t.Context(), q), "no UTF-8")
		require.ErrorContains(t, w.view.Record(t.Context(), q), "no UTF-8")
	}
	q := write("docs/a", false)
	q.Program = "\xff\x00sh"
	require.NoError(t, w.view.Ask(t.Context(), q))
}
