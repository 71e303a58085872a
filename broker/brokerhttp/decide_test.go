//go:build linux

package brokerhttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// A question about one thing: answered by the caller's own policy, by its
// manager where that is needed (D1), with D14's text, and never by what the
// body says of the caller (M10).
func TestDecide(t *testing.T) {
	s := serve(t, private(t), Options{})
	s.hire("boss", "", "trusted")
	s.hire("kid", "boss", "")
	kid, root := s.as("kid"), s.as("boss")
	write := func(place string) DecideBody {
		return DecideBody{Action: access.FSWrite, Resource: place, Tool: "write_file", Input: `{"path":"` + place + `"}`}
	}
	decide := func(c *Client, body DecideBody) Decided {
		t.Helper()
		d, err := c.Decide(t.Context(), body)
		require.NoError(t, err)
		return d
	}
	require.True(t, decide(kid, write("docs/a")).Allowed())
	require.Equal(t, access.Deny, decide(kid, write("go.mod")).Effect)
	require.True(t, decide(root, write("go.mod")).Allowed(), "another connection is another agent")

	probe := write("src/p")
	probe.Probe = true
	require.Equal(t, Decided{Effect: access.Ask, Code: pathresolver.RuleAsk}, func() Decided {
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
	peek := write("src/yes")
	peek.Peek = true
	require.Equal(t, access.Ask, decide(kid, peek).Effect)
	yes := waits("src/yes")
	id := s.pending(root)
	_, err = root.Approve(t.Context(), id, ApproveBody{})
	require.NoError(t, err)
	require.True(t, (<-yes).Allowed())
	require.Equal(t, access.Ask, decide(kid, peek).Effect)
	require.Equal(t, access.Ask, decide(kid, write("src/yes")).Effect, "D25: once is used up by the answer")
	_, err = root.Deny(t.Context(), s.pending(root), DenyBody{})
	require.NoError(t, err)

	no := waits("src/no")
	_, err = root.Deny(t.Context(), s.pending(root), DenyBody{Reason: "not in this release"})
	require.NoError(t, err)
	d := <-no
	require.Equal(t, broker.CodeDenied, d.Code)
	require.Equal(t, "not in this release", d.Reason)
	require.Contains(t, d.Text, "Path 'src/no' is outside the allowed sandbox for writing; writable: docs\n") // W13

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
	status, body := s.raw(kid, "POST", "/v1/decide", `{"action":"fs.write","resource":"docs/a","principal":"boss"}`, nil)
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
	s.hire("boss", "", "trusted")
	s.hire("kid", "boss", "")
	own, err := s.as("kid").Own(t.Context())
	require.NoError(t, err)
	require.Equal(t, "kid", own.Agent.ID)
	require.Equal(t, own.Agent.PolicyHash, own.Policy.Hash())
	_, err = s.as("").Own(t.Context())
	require.ErrorContains(t, err, "the operator is no agent")
}

// D17: an answer reaches who waits for it also where the broker goes away between
// the answer and what is done with it.
func TestDecideOutlastsABroker(t *testing.T) {
	dir := private(t)
	s := serve(t, dir, Options{})
	s.hire("boss", "", "trusted")
	s.hire("kid", "boss", "")
	root := s.as("boss")

	// Between the two a proxy cuts the connection of the second question, once.
	short, err := os.MkdirTemp("/tmp", "pf") // a socket's name is short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(short)) })
	socket := filepath.Join(short, "proxy")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	to := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "broker" },
		Transport: &http.Transport{DialContext: dialer(AgentSocket(dir, "kid"))},
	}
	var asked atomic.Int32
	proxy := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/decide" && asked.Add(1) == 2 {
			panic(http.ErrAbortHandler)
		}
		to.ServeHTTP(w, r)
	})}
	served := make(chan error, 1)
	go func() { served <- proxy.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, proxy.Close())
		require.ErrorIs(t, <-served, http.ErrServerClosed)
		to.Transport.(*http.Transport).CloseIdleConnections()
	})
	kid, err := NewClient(Endpoint{Socket: socket})
	require.NoError(t, err)
	t.Cleanup(kid.Close)

	answer := make(chan error, 1)
	go func() {
		d, err := kid.DecideWaiting(context.WithoutCancel(t.Context()), DecideBody{Action: access.FSWrite, Resource: "src/a"})
		if err == nil && !d.Allowed() {
			err = errors.New(d.Text)
		}
		answer <- err
	}()
	_, err = root.Approve(t.Context(), s.pending(root), ApproveBody{})
	require.NoError(t, err)
	require.NoError(t, <-answer)
	require.EqualValues(t, 3, asked.Load())
}
