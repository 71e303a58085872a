//go:build linux

package webinbox

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

// elsewhere is what waits at the broker of another world, as a run has one.
type elsewhere struct{ *world }

func (e elsewhere) Requests(ctx context.Context) ([]broker.Request, error) {
	return e.b.Requests(ctx, operator)
}

func (e elsewhere) Request(ctx context.Context, id string) (broker.Request, error) {
	return e.b.Request(ctx, operator, id)
}

func (e elsewhere) Proposal(context.Context, string) (brokerhttp.Proposal, error) {
	return brokerhttp.Proposal{Note: "what the run would change"}, nil
}

func (e elsewhere) Agent(ctx context.Context, r broker.Request) (broker.Agent, error) {
	return e.b.Agent(ctx, operator, r.AgentID)
}

func (e elsewhere) Approve(ctx context.Context, id string, a brokerhttp.ApproveBody) (done brokerhttp.Resolved, err error) {
	_, err = e.b.Approve(ctx, operator, id, broker.Answer{Scope: a.Scope, Until: a.Until, Digest: a.Digest})
	return done, err
}

func (e elsewhere) Deny(ctx context.Context, id string, body brokerhttp.DenyBody) (done brokerhttp.Resolved, err error) {
	_, err = e.b.Deny(ctx, operator, id, body.Reason)
	return done, err
}

func (e elsewhere) Watch(ctx context.Context, look func()) error {
	wake, stop := e.b.Watch(operator)
	defer stop()
	for {
		select {
		case <-wake:
			look()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TestOneInbox: what waits at the brokers of runs is on the page too, and is answered
// there: each by its own broker, and only what was read (D1, D9). Without Others nothing of
// it is to be seen.
func TestOneInbox(t *testing.T) {
	w, run := newWorld(t), newWorld(t)
	own := w.ask(w.hire("worker", ""), "src/own.go", "")
	theirs := run.ask(run.hire("run", "the task of the run"), "src/theirs.go", "")
	c := w.enter()
	path := "/api/requests/" + theirs.ID
	_, answer, _ := c.do(http.MethodGet, "/api/requests", "")
	require.NotContains(t, answer, theirs.ID)
	status, _, _ := c.do(http.MethodGet, path, "")
	require.Equal(t, http.StatusConflict, status)

	w.srv.opt.Others = elsewhere{run}
	_, answer, _ = c.do(http.MethodGet, "/api/requests", "")
	require.Less(t, strings.Index(answer, own.ID), strings.Index(answer, theirs.ID), "oldest first: %s", answer)
	require.Contains(t, answer, own.ID)
	_, answer, _ = c.do(http.MethodGet, path, "")
	for _, text := range []string{`"yours":true`, "src/theirs.go", "the task of the run", "what the run would change", `"cwd":"/project"`, theirs.Digest} {
		require.Contains(t, answer, text)
	}
	status, answer, _ = c.do(http.MethodPost, path+"/approve", `{"scope": "once", "digest": "`+own.Digest+`"}`)
	require.Equal(t, http.StatusConflict, status, "an approval of something else: %s", answer)
	require.Equal(t, broker.Pending, run.status(theirs.ID).Status)

	// The page hears of what happens there.
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.origin()+"/api/events", nil)
	require.NoError(t, err)
	req.AddCookie(c.cookie)
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	lines := bufio.NewScanner(resp.Body)
	heard := func(event string) {
		for lines.Scan() {
			if lines.Text() == "event: "+event {
				return
			}
		}
		require.FailNow(t, "the stream has ended")
	}
	heard("here")
	other := run.ask(broker.AgentIdentity("run"), "src/more.go", "")
	heard("change")

	status, answer, _ = c.do(http.MethodPost, path+"/approve", `{"scope": "once", "digest": "`+theirs.Digest+`"}`)
	require.Equal(t, http.StatusOK, status, answer)
	require.Equal(t, broker.Approved, run.status(theirs.ID).Status)
	status, answer, _ = c.do(http.MethodPost, "/api/requests/"+other.ID+"/deny", `{"reason": "not now"}`)
	require.Equal(t, http.StatusOK, status, answer)
	require.Equal(t, "not now", run.status(other.ID).DenyReason)
	require.Equal(t, broker.Pending, w.status(own.ID).Status)
}
