//go:build linux

package brokerhttp

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/permission"
)

// A question about one thing: answered by the caller's own policy, by its
// manager where that is needed (D1), with D14's text, and never by what the
// body says of the caller (M10).
func TestDecide(t *testing.T) {
	s := serve(t, private(t), Options{})
	s.hire("root", "", "trusted")
	s.hire("kid", "root", "")
	kid, root := s.as("kid"), s.as("root")
	write := func(place string) DecideBody {
		return DecideBody{Action: permission.FSWrite, Resource: place, Tool: "write_file", Input: `{"path":"` + place + `"}`}
	}
	decide := func(c *Client, body DecideBody) Decided {
		t.Helper()
		d, err := c.Decide(t.Context(), body)
		require.NoError(t, err)
		return d
	}
	require.True(t, decide(kid, write("docs/a")).Allowed())
	require.Equal(t, permission.Deny, decide(kid, write("go.mod")).Effect)
	require.True(t, decide(root, write("go.mod")).Allowed(), "another connection is another agent")

	probe := write("src/p")
	probe.Probe = true
	require.Equal(t, Decided{Effect: permission.Ask, Code: permission.CodeAsk}, func() Decided {
		d := decide(kid, probe)
		d.Reason, d.Text, d.Rule = "", "", ""
		return d
	}())
	pending, err := root.Requests(t.Context())
	require.NoError(t, err)
	require.Empty(t, pending, "a probe leaves nothing")

	// Who waits gets the manager's answer, whichever it is.
	waits := func(place string) <-chan Decided {
		answer := make(chan Decided, 1)
		go func() {
			d, err := kid.DecideWaiting(context.WithoutCancel(t.Context()), write(place))
			if err != nil {
				d.Text = err.Error()
			}
			answer <- d
		}()
		return answer
	}
	yes := waits("src/yes")
	id := s.pending(root)
	_, err = root.Approve(t.Context(), id, ApproveBody{})
	require.NoError(t, err)
	require.True(t, (<-yes).Allowed())
	require.Equal(t, permission.Ask, decide(kid, write("src/yes")).Effect, "D25: once is used up by the answer")
	_, err = root.Deny(t.Context(), s.pending(root), DenyBody{})
	require.NoError(t, err)

	no := waits("src/no")
	_, err = root.Deny(t.Context(), s.pending(root), DenyBody{Reason: "not in this release"})
	require.NoError(t, err)
	d := <-no
	require.Equal(t, broker.CodeDenied, d.Code)
	require.Equal(t, "not in this release", d.Reason)
	require.Contains(t, d.Text, "Path 'src/no' is outside the allowed sandbox\n") // W13

	// The wait ends with its caller; the row stays.
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() { _, err := kid.DecideWaiting(ctx, write("src/gone")); gone <- err }()
	id = s.pending(root)
	cancel()
	require.ErrorIs(t, <-gone, context.Canceled)
	require.Equal(t, id, s.pending(root))
	again := decide(kid, write("src/gone"))
	require.Equal(t, id, again.RequestID, "D23: the same request")

	forged := write("src/other")
	forged.RequestID = id
	require.Equal(t, broker.CodeMismatch, decide(kid, forged).Code)
	status, body := s.raw(kid, "POST", "/v1/decide", `{"action":"fs.write","resource":"docs/a","principal":"root"}`, nil)
	require.Equal(t, 400, status, body)
}

// pending waits for the one request that a manager has to answer.
func (s *served) pending(c *Client) string {
	s.t.Helper()
	for {
		rows, err := c.Requests(s.t.Context())
		require.NoError(s.t, err)
		if len(rows) == 1 {
			return rows[0].ID
		}
	}
}

// The policy that an agent is told is its own; the operator has none.
func TestOwn(t *testing.T) {
	s := serve(t, private(t), Options{})
	s.hire("root", "", "trusted")
	s.hire("kid", "root", "")
	own, err := s.as("kid").Own(t.Context())
	require.NoError(t, err)
	require.Equal(t, "kid", own.Agent.ID)
	require.Equal(t, own.Agent.PolicyHash, own.Policy.Hash().String())
	_, err = s.as("").Own(t.Context())
	require.ErrorContains(t, err, "the operator is no agent")
}
