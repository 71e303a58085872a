package broker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/permission"
)

// X3, X13, X15: an agent has several sessions, which a send ACL's patterns tell apart, and
// each its channel. That an answer reaches no channel is said where the agent has one.
func TestSessionsAndRoutes(t *testing.T) {
	w := newWorld(t)
	main := w.hire(operator, "main", managerDoc)
	set := func(name, route string) {
		t.Helper()
		_, err := w.SetSession(t.Context(), operator, "main", name, route)
		require.NoError(t, err)
	}
	require.Equal(t, "✓ [send] sent to agent:main:main", w.send(operator, "agent:main:main"), "nobody has channels")
	set("whatsapp:group:7", "whatsapp/Family")
	set("web", "")

	require.Equal(t, "✓ [send] sent to agent:main:whatsapp:group:7", w.send(operator, "agent:main:whatsapp:group:7"))
	require.Equal(t, "✓ [send] sent to agent:main:main (no routing — response won't reach a channel)", w.send(operator, "agent:main:main"))
	require.Equal(t, "✓ [send] sent to agent:main:web (no routing — response won't reach a channel)", w.send(operator, "agent:main:web"))
	require.Equal(t, "[ERROR] Session not found: \"agent:main:irc\"\nAvailable sessions:\n"+
		"  agent:main:main → no routing\n  agent:main:whatsapp:group:7 → whatsapp/Family\n  agent:main:web → no routing", w.send(operator, "agent:main:irc"))
	set("main", "irc/#main")
	require.Equal(t, "✓ [send] sent to agent:main:main", w.send(operator, "agent:main:main"))
	box := must(w.Receive(t.Context(), main, false))
	require.Equal(t, []string{"agent:main:main", "agent:main:whatsapp:group:7"}, []string{box[0].Session, box[1].Session})

	// The pattern lets it send to that session and to no other of the agent.
	free := w.hire(operator, "free", "version: 1\nextends: trusted\ncross_send: {mode: allowlist, allowlist: [\"agent:*:whatsapp:*\"]}\n")
	require.Contains(t, w.send(free, "agent:main:whatsapp:group:7"), "✓")
	require.Contains(t, w.send(free, "agent:main:web"), `Permission denied: agent "free" cannot send to "agent:main:web"`)
	require.Contains(t, w.send(free, "main"), "Did you mean:\n  agent:main:whatsapp:group:7 → whatsapp/Family")
	require.NotContains(t, w.send(free, "main"), "agent:main:web")

	// An agent that named its own sessions could step into that pattern.
	for _, who := range []broker.Identity{main, free, {}} {
		_, err := w.SetSession(t.Context(), who, "free", "whatsapp:me", "")
		require.Error(t, err)
	}
	_, err := w.SetSession(t.Context(), free, "free", "whatsapp:me", "")
	refused(t, broker.CodeOperatorOnly, err)
	for _, bad := range []string{"", "a b", "a::b", "*", "agent:bot:x"} {
		_, err := w.SetSession(t.Context(), operator, "main", bad, "")
		refused(t, broker.CodeInvalid, err)
	}
	_, err = w.RemoveSession(t.Context(), operator, "main", "main")
	refused(t, broker.CodeInvalid, err)
	_, err = w.RemoveSession(t.Context(), operator, "main", "whatsapp:group:7")
	require.NoError(t, err)
	require.Contains(t, w.send(operator, "agent:main:whatsapp:group:7"), "Session not found")
	must(w.Verify(t.Context(), operator, broker.Head{}))
}

// X6: what is shown is what is in force, whatever it was made of.
func TestCrossShowsWhatIsInForce(t *testing.T) {
	w := newWorld(t)
	inForce := func(id string) []broker.CrossList { return must(w.Cross(t.Context(), operator, id)).InForce }
	manager, _ := w.pair()
	w.hire(operator, "solo", workerDoc)
	require.Equal(t, []broker.CrossList{{Mode: permission.Allowlist, Patterns: []string{"agent:root:*", "agent:solo:*"}, From: "default"}}, inForce("solo"))
	require.Equal(t, []broker.CrossList{{Mode: permission.Bypass, Patterns: []string{}, From: "trusted"}}, inForce("worker"), "its manager's; its own says nothing")
	w.hire(manager, "listed", "version: 1\nname: listed\nextends: sandboxed\ncross_send: {mode: denylist, denylist: [\"agent:x:*\"]}\n")
	require.Equal(t, []broker.CrossList{{Mode: permission.Denylist, Patterns: []string{"agent:x:*"}, From: "listed"}}, inForce("listed"))
	c, _, err := w.SetCross(t.Context(), operator, "listed", broker.CrossChange{Allow: "agent:boss:*"})
	require.NoError(t, err)
	require.Equal(t, []broker.CrossList{
		{Mode: permission.Denylist, Patterns: []string{"agent:x:*"}, From: "listed"},
		{Mode: permission.Allowlist, Patterns: []string{"agent:boss:*"}, From: "agents cross"},
	}, c.InForce)
}
