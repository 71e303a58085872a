package brokerclient

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
)

// What waits at several brokers is one inbox: each answer goes to the broker
// that asks, though their agents have the same names; one that has gone is left.
func TestInboxesOfSeveralBrokers(t *testing.T) {
	a, atA, projectA := clitest.ServedBroker(t)
	b, atB, projectB := clitest.ServedBroker(t)
	sockets := []string{atA, atB, atA + ".gone"}
	in := &Inbox{Find: func(context.Context) []string { return sockets }}
	first, second := clitest.Asks(t, a, "version = 2", "of a"), clitest.Asks(t, b, "version = 3", "of b")

	list, err := in.Requests(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, []string{first.ID, second.ID}, []string{list[0].ID, list[1].ID}, "oldest first")
	for _, c := range []struct {
		r             broker.Request
		project, diff string
	}{{first, projectA, "+const version = 2"}, {second, projectB, "+const version = 3"}} {
		agent, err := in.Agent(t.Context(), c.r)
		require.NoError(t, err)
		require.Equal(t, c.project, agent.Cwd)
		p, err := in.Proposal(t.Context(), c.r.ID)
		require.NoError(t, err)
		require.Contains(t, p.Diff, c.diff)
		r, err := in.Request(t.Context(), c.r.ID)
		require.NoError(t, err)
		require.Equal(t, c.r.Digest, r.Digest)
	}
	_, err = in.Approve(t.Context(), first.ID, brokerhttp.ApproveBody{Digest: first.Digest})
	require.NoError(t, err)
	require.Equal(t, broker.Approved, clitest.Ended(t, a, first.ID).Status)
	sockets = sockets[1:]
	list, err = in.Requests(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	_, err = in.Deny(t.Context(), second.ID, brokerhttp.DenyBody{Reason: "no"})
	require.NoError(t, err)
	require.Equal(t, broker.Denied, clitest.Ended(t, b, second.ID).Status)
	_, err = in.Approve(t.Context(), "unknown", brokerhttp.ApproveBody{})
	require.EqualError(t, err, "Approval not found: unknown")
	sockets = nil
	list, err = in.Requests(t.Context()) // that nobody serves is no error
	require.NoError(t, err)
	require.Empty(t, list)
}

// A broker that comes later is heard too.
func TestInboxesHearAll(t *testing.T) {
	a, atA, _ := clitest.ServedBroker(t)
	b, atB, _ := clitest.ServedBroker(t)
	found := make(chan []string, 1)
	found <- []string{atA}
	in := &Inbox{Find: func(context.Context) []string {
		now := <-found
		found <- now
		return now
	}}
	ctx, cancel := context.WithTimeout(t.Context(), clitest.InTime)
	defer cancel()
	looked := make(chan struct{}, 1000)
	over := make(chan error, 1)
	go func() { over <- in.Watch(ctx, func() { looked <- struct{}{} }) }()
	next := func() {
		select {
		case <-looked:
		case err := <-over:
			require.FailNow(t, "it does not go on", "%v", err)
		}
	}
	next() // it listens
	clitest.Asks(t, a, "version = 2", "of a")
	next()
	<-found
	found <- []string{atA, atB}
	clitest.Asks(t, b, "version = 3", "of b")
	for {
		next()
		if list, err := in.Requests(ctx); err == nil && len(list) == 2 {
			break
		}
	}
	cancel()
	for {
		select {
		case <-looked:
			continue
		case err := <-over:
			require.True(t, errors.Is(err, context.Canceled), "%v", err)
		}
		break
	}
}

// Of a broker that says nothing, such as one of a process that was stopped, nobody knows
// what waits there: no answer is chosen then, as it is where all answer. What waits
// elsewhere is seen all the same.
func TestSilentBroker(t *testing.T) {
	b, socket, _ := clitest.ServedBroker(t)
	state := filepath.Dir(filepath.Dir(filepath.Dir(socket)))
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("PINFOLD_SOCKET", "")
	t.Setenv("PINFOLD_URL", "")
	asked := clitest.Asks(t, b, "version = 2", "the release")
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	r, ok, err := Only(cmd, &cli.App{})
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, asked.ID, r.ID)

	silent := brokerhttp.OperatorSocket(filepath.Join(state, "pinfold", "runs", "20260101T000000Z-1"))
	require.NoError(t, os.MkdirAll(filepath.Dir(silent), 0o700))
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", silent) // nobody accepts
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	_, ok, err = Only(cmd, &cli.App{})
	require.ErrorAs(t, err, new(*SilentError))
	require.ErrorContains(t, err, silent)
	require.False(t, ok)
	list, err := (&Inbox{Find: Sockets}).Requests(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
}
