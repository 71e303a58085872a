package broker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

func writeOf(place string) access.Request {
	return access.Request{Action: access.FSWrite, Resource: place, Tool: "write_file", Input: []byte(`{"path":"` + place + `"}`)}
}

// A decision asks nobody, and uses up what was granted once (D25). After an
// answer it is the answer that counts, in D14's words.
func TestDecideAsksNobody(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	g := w.Gate(worker)
	require.Equal(t, access.Allow, g.Decide(t.Context(), writeOf("docs/a")).Effect)
	require.Equal(t, access.Deny, g.Decide(t.Context(), writeOf("go.mod")).Effect)
	require.Equal(t, access.Ask, g.Decide(t.Context(), writeOf("src/a")).Effect)
	require.Empty(t, must(w.Requests(t.Context(), manager)))

	r := must(w.Ask(t.Context(), worker, writeOf("src/a")))
	require.Equal(t, access.Ask, g.Answered(t.Context(), writeOf("src/a"), r.ID).Effect, "nobody has answered")
	must(w.Approve(t.Context(), manager, r.ID, broker.Answer{Scope: broker.Once}))
	d := g.Answered(t.Context(), writeOf("src/b"), r.ID)
	require.Equal(t, broker.CodeMismatch, d.Code, "D6: bound to the very call")
	require.Equal(t, access.Allow, g.Answered(t.Context(), writeOf("src/a"), r.ID).Effect)
	require.Equal(t, access.Deny, g.Answered(t.Context(), writeOf("src/a"), r.ID).Effect, "once is once")

	r = must(w.Ask(t.Context(), worker, writeOf("src/c")))
	must(w.Deny(t.Context(), manager, r.ID, "not in this release"))
	d = g.Answered(t.Context(), writeOf("src/c"), r.ID)
	require.Equal(t, broker.CodeDenied, d.Code)
	require.Contains(t, d.Text(), "Path 'src/c' is outside the allowed sandbox for writing; writable: docs\nwrite refused (denied_by_manager): not in this release") // D14
	d = w.Gate(manager).Answered(t.Context(), writeOf("src/c"), r.ID)
	require.Equal(t, broker.CodeNotFound, d.Code, "another's request says nothing")
	require.False(t, d.Allowed())
	require.False(t, w.Gate(broker.Identity{}).Decide(t.Context(), writeOf("docs/a")).Allowed(), "M10: nobody may do nothing")
}

// A look says what would be decided, and leaves everything as it was: leave for
// one time is still there, and nothing is recorded or asked.
func TestPeekDoesNothing(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	g := w.Gate(worker)
	asked := must(w.Ask(t.Context(), worker, writeOf("src/a")))
	must(w.Approve(t.Context(), manager, asked.ID, broker.Answer{}))
	tree := must(w.Ask(t.Context(), worker, writeOf("src/t")))
	must(w.Approve(t.Context(), manager, tree.ID, broker.Answer{Scope: broker.Subtree}))
	before := must(w.Head(t.Context(), operator))
	for range 2 {
		d := g.Peek(t.Context(), writeOf("src/a"))
		require.True(t, d.Allowed())
		require.Equal(t, "grant:"+asked.ID, d.Rule)
		require.Equal(t, "grant:"+tree.ID, g.Peek(t.Context(), writeOf("src/t/b")).Rule)
	}
	require.Equal(t, access.Ask, g.Peek(t.Context(), writeOf("src/b")).Effect)
	require.Equal(t, access.Deny, g.Peek(t.Context(), writeOf("go.mod")).Effect)
	require.True(t, g.Peek(t.Context(), writeOf("docs/a")).Allowed())
	require.False(t, w.Gate(broker.Identity{}).Peek(t.Context(), writeOf("docs/a")).Allowed(), "M10: nobody may do nothing")
	require.Equal(t, before, must(w.Head(t.Context(), operator)), "nothing is recorded")
	require.Empty(t, must(w.Requests(t.Context(), manager)))
	require.Equal(t, broker.Approved, must(w.Request(t.Context(), worker, asked.ID)).Status)
	require.True(t, g.Decide(t.Context(), writeOf("src/a")).Allowed(), "it was not used up")
	require.Equal(t, access.Ask, g.Peek(t.Context(), writeOf("src/a")).Effect)
	c := writeOf("docs/a")
	for range 65 {
		c.Also = append(c.Also, access.Access{Action: access.FSWrite, Resource: "docs/b"})
	}
	require.Equal(t, broker.CodeTooLarge, g.Peek(t.Context(), c).Code)
}

// A question is bounded as a request is: what one names costs the broker each.
func TestDecideIsBounded(t *testing.T) {
	w := newWorld(t)
	_, worker := w.pair()
	c := writeOf("docs/a")
	for range 64 {
		c.Also = append(c.Also, access.Access{Action: access.FSWrite, Resource: "docs/b"})
	}
	require.True(t, w.Gate(worker).Decide(t.Context(), c).Allowed())
	c.Also = append(c.Also, c.Also[0])
	d := w.Gate(worker).Decide(t.Context(), c)
	require.False(t, d.Allowed())
	require.Equal(t, broker.CodeTooLarge, d.Code)
}

// T13-T15 in the words of nexus_status; a stranger is not told who is there.
func TestStatusOfAnAgent(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	seen := must(w.StatusOf(t.Context(), manager, "worker"))
	require.Equal(t, broker.Seen{ID: "worker", Session: "agent:worker:main", State: broker.Working}, seen)
	require.NoError(t, w.Exited(t.Context(), "worker", broker.Exit{Code: 3}))
	require.Equal(t, 3, must(w.StatusOf(t.Context(), manager, "worker")).Exit.Code)
	solo := w.hire(operator, "solo", managerDoc)
	_, there := w.StatusOf(t.Context(), solo, "worker")
	_, gone := w.StatusOf(t.Context(), solo, "nobody")
	require.Equal(t, "Tool 'nexus_status' can only target parent or child agents", refuseText(t, there)) // T14
	require.Equal(t, refuseText(t, there), refuseText(t, gone))
	_, err := w.StatusOf(t.Context(), solo, "")
	require.Equal(t, "no agent_id provided", refuseText(t, err)) // T10
	_, err = w.StatusOf(t.Context(), worker, "boss")
	require.Error(t, err, "who has ended asks nothing")
}
