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

// hired is a broker with an agent that it has hired, and whom the agent's view asks.
func hired(t *testing.T) (operator *brokerhttp.Client, view *Joined) {
	t.Helper()
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
	operator, err = brokerhttp.NewClient(brokerhttp.Endpoint{Socket: brokerhttp.OperatorSocket(dir)})
	require.NoError(t, err)
	_, err = operator.Hire(t.Context(), brokerhttp.HireBody{
		ID: "kid", Cwd: t.TempDir(), Command: []string{"true"},
		Policy: &brokerhttp.Text{Name: "p.yaml", Text: "version: 1\nextends: sandboxed\nfs: {write: [docs], ask_write: [src]}\n"},
	})
	require.NoError(t, err)
	ours, theirs, err := child.SocketPair("asks")
	require.NoError(t, err)
	launched.Serve(ours)
	conn, err := net.FileConn(theirs)
	require.NoError(t, err)
	require.NoError(t, theirs.Close())
	c, err := brokerhttp.NewConnClient(conn)
	require.NoError(t, err)
	t.Cleanup(func() {
		c.Close()
		operator.Close()
		require.NoError(t, srv.Close())
		b.Close()
		require.NoError(t, store.Close())
	})
	return operator, NewJoined(c, "kid", 1)
}

func write(place string, wait bool) sandboxfs.AskRequest {
	return sandboxfs.AskRequest{
		Accesses: []access.Access{{Action: access.FSWrite, Resource: place}},
		Syscall:  "open", Program: "sh", PID: 1, Wait: wait,
	}
}

// A view learns what its agent is granted while it serves, and when that is taken
// back; who was fired is told nothing more.
func TestJoinedHearsOfGrants(t *testing.T) {
	operator, view := hired(t)
	over := make(chan struct{})
	interrupts := make(chan struct{}, 1)
	go func() {
		defer close(over)
		view.Watch(t.Context(), func() { interrupts <- struct{}{} })
	}()
	eventually := func(is func() bool) {
		t.Helper()
		require.Eventually(t, is, time.Minute, 5*time.Millisecond)
	}
	a := access.Access{Action: access.FSWrite, Resource: "src/sub/a"}
	require.False(t, view.Granted(a))
	require.Error(t, view.Ask(t.Context(), write("src/sub", false)), "it does not wait, and leaves a request behind")
	rows, err := operator.Requests(t.Context())
	require.NoError(t, err)
	require.Len(t, rows, 1)
	_, err = operator.Approve(t.Context(), rows[0].ID, brokerhttp.ApproveBody{Scope: broker.Subtree})
	require.NoError(t, err)
	eventually(func() bool { return view.Granted(a) })
	require.NoError(t, view.Ask(t.Context(), write(a.Resource, true)))
	require.NoError(t, view.Record(t.Context(), write(a.Resource, false)), "granted already")

	_, err = operator.Revoke(t.Context(), rows[0].ID)
	require.NoError(t, err)
	require.Error(t, view.Ask(t.Context(), write(a.Resource, false)), "at once, whatever is remembered")
	eventually(func() bool { return !view.Granted(a) })

	_, err = operator.Interrupt(t.Context(), "kid")
	require.NoError(t, err)
	<-interrupts
	_, err = operator.Fire(t.Context(), "kid")
	require.NoError(t, err)
	<-over
	require.Error(t, view.Ask(t.Context(), write("docs/a", false)))
}

// Of the opens that wait at once there is a bound: the next one is answered now.
func TestJoinedBoundsWaits(t *testing.T) {
	operator, view := hired(t)
	killed, kill := context.WithCancel(t.Context())
	waiting := make(chan error, 1)
	go func() { waiting <- view.Ask(killed, write("src/a", true)) }()
	require.Eventually(t, func() bool {
		rows, err := operator.Requests(t.Context())
		return err == nil && len(rows) == 1
	}, time.Minute, 5*time.Millisecond)
	require.Error(t, view.Ask(t.Context(), write("src/b", true)))
	kill()
	require.ErrorIs(t, <-waiting, context.Canceled)
	rows, err := operator.Requests(t.Context())
	require.NoError(t, err)
	require.Len(t, rows, 2, "each can be approved and tried again")
}
