package broker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

// A3: what would be decided about a living agent, with what it was granted and who its
// parent is, and by which rule, without doing it.
func TestExplainOfALivingAgent(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	explain := func(action access.Action, resource string) broker.Explained {
		t.Helper()
		return must(w.Explain(t.Context(), manager, "worker", access.Request{Action: action, Resource: resource, Tool: map[bool]string{true: "nexus_send", false: "write_file"}[action == access.MsgSend]}))
	}
	head := must(w.Head(t.Context(), operator))
	e := explain(access.FSWrite, "src/a")
	require.Equal(t, []any{access.Ask, "worker", "boss"}, []any{e.Effect, e.Agent, e.Parent})
	require.Contains(t, e.Steps, broker.ExplainedStep{Stage: "write", Layer: "p", Effect: access.Ask, Rule: "p:fs.ask_write[0]", Source: "p.yaml:3:33"})
	require.Equal(t, access.Allow, explain(access.FSWrite, "docs/a").Effect)
	e = explain(access.MsgSend, "agent:root:main")
	require.Equal(t, "Tool 'nexus_send' can only target parent agent ('boss')", e.Text)
	require.Equal(t, access.Allow, explain(access.MsgSend, "agent:boss:main").Effect)
	require.Equal(t, head, must(w.Head(t.Context(), operator)), "nothing was recorded")
	require.Empty(t, must(w.Requests(t.Context(), manager)), "and nobody asked")

	// A grant makes the difference, and is named; one for one time is not used up.
	r := must(w.Ask(t.Context(), worker, access.Request{Action: access.FSWrite, Resource: "src/a", Tool: "write_file", MayBlock: true}))
	must(w.Approve(t.Context(), manager, r.ID, broker.Answer{Scope: broker.Once}))
	for range 2 {
		e = explain(access.FSWrite, "src/a")
		require.Equal(t, access.Allow, e.Effect)
		require.Len(t, e.Grants, 1)
		require.Equal(t, r.ID, e.Grants[0].ID)
	}
	require.Equal(t, access.Ask, explain(access.FSWrite, "src/b").Effect)

	h := must(w.Holding(t.Context(), worker, "worker"))
	require.Equal(t, "p", h.Policy)
	require.Equal(t, "trusted", h.Chain[0].Name, "its manager's is above its own")
	require.Contains(t, h.Tools, broker.HoldingEffect{Name: "nexus_send", Effect: access.Allow})
	require.Contains(t, h.Tools, broker.HoldingEffect{Name: "nexus_create", Effect: access.Deny})
	require.Len(t, h.Grants, 1)

	// Others learn nothing, not even who is there.
	other := w.hire(operator, "other", workerDoc)
	for _, id := range []string{"worker", "nobody", ""} {
		_, err := w.Explain(t.Context(), other, id, access.Request{Action: access.FSRead, Resource: "a"})
		require.Equal(t, "Session not found: "+id, refused(t, broker.CodeNotFound, err))
		_, err = w.Holding(t.Context(), other, id)
		require.Equal(t, "Session not found: "+id, refused(t, broker.CodeNotFound, err))
	}
	_, err := w.Explain(t.Context(), operator, "worker", access.Request{Action: "fs.any", Resource: "a"})
	refused(t, broker.CodeInvalid, err)
}

// What is explained without a tool is what the broker does, which decides with a tool.
func TestExplainAsTheBroker(t *testing.T) {
	w := newWorld(t)
	w.pair()
	for _, c := range []struct {
		action         access.Action
		resource, tool string
		effect         access.Effect
	}{
		{access.MsgSend, "boss", "nexus_send", access.Allow},
		{access.MsgAsk, "agent:boss:main", "nexus_send", access.Allow},
		{access.MsgSend, "root", "nexus_send", access.Deny},
		{access.MsgExecute, "agent:sibling:main", "nexus_send", access.Deny},
		{access.AgentSpawn, "other", "nexus_create", access.Deny},
		{access.AgentStatus, "boss", "nexus_status", access.Deny},
		{access.AgentCancel, "boss", "nexus_cancel", access.Deny},
		{access.AgentDestroy, "boss", "nexus_destroy", access.Deny},
		{access.ToolUse, "read_file", "read_file", access.Allow},
	} {
		request := access.Request{Action: c.action, Resource: c.resource}
		e := must(w.Explain(t.Context(), operator, "worker", request))
		request.Tool = c.tool
		require.Equal(t, must(w.Explain(t.Context(), operator, "worker", request)), e, "%s %s", c.action, c.resource)
		require.Equal(t, c.effect, e.Effect, "%s %s: %s", c.action, c.resource, e.Text)
	}
	e := must(w.Explain(t.Context(), operator, "worker", access.Request{Action: access.MsgSend, Resource: "boss"}))
	require.Equal(t, "agent:boss:main", e.Resource)

	// What the tool alone refuses is refused, in the words that its user gets.
	mute := w.hire(operator, "mute", "version: 1\nextends: trusted\ntools: {nexus_send: {allowed_targets: []}}\n")
	e = must(w.Explain(t.Context(), operator, "mute", access.Request{Action: access.MsgSend, Resource: "boss"}))
	require.Equal(t, []any{access.Deny, "Tool 'nexus_send' cannot target agent 'boss'"}, []any{e.Effect, e.Text})
	require.Equal(t, e.Text, w.send(mute, "agent:boss:main"))
	_, err := w.Explain(t.Context(), operator, "worker", access.Request{Action: access.MsgSend, Resource: "bo ss"})
	require.NoError(t, err, "what is no id is decided about as it is")
}
