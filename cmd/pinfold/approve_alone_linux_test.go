package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
)

// At a terminal `approve` without an id shows the one request that waits and asks: it may
// be another one than was seen a moment ago. Only the word yes approves it. With an id
// nothing is asked.
func TestApproveAloneAsks(t *testing.T) {
	b, socket, _ := clitest.ServedBroker(t)
	env := []string{"PINFOLD_SOCKET=" + socket, "TERM=dumb"}
	first := clitest.Asks(t, b, "version = 2", "seen")
	_, err := b.Deny(t.Context(), broker.OperatorIdentity(), first.ID, "answered elsewhere")
	require.NoError(t, err)
	second := clitest.Asks(t, b, "version = 3", "not seen yet")
	waits := func() bool {
		r, err := b.Request(t.Context(), broker.OperatorIdentity(), second.ID)
		require.NoError(t, err)
		return r.Status == broker.Pending
	}
	for _, typed := range []string{"\r", "y\r", "approve\r", "\x04"} {
		x := onTerminal(t, env, "approve")
		at := x.shows(0, second.ID)
		at = x.shows(at, "reason: not seen yet")
		at = x.shows(at, "Approve it? Type yes: ")
		x.press(typed)
		x.shows(at, "not approved")
		require.Equal(t, cli.ExitFailed, x.leaves())
		require.True(t, waits(), "%q", typed)
	}
	x := onTerminal(t, env, "approve")
	at := x.shows(0, "Approve it? Type yes: ")
	x.press("yes\r")
	x.shows(at, "Approved edit_file for kid")
	require.Equal(t, cli.ExitOK, x.leaves())
	require.False(t, waits())

	third := clitest.Asks(t, b, "version = 4", "named")
	x = onTerminal(t, env, "approve", third.ID)
	x.shows(0, "Approved edit_file for kid")
	require.Equal(t, cli.ExitOK, x.leaves())
}
