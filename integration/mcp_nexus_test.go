package integration

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

// TestNexusTools holds T11-T25 and X7, X8 through the tools nexus_* of
// `pinfold mcp` (T24): a broker, servers and agents' commands are processes.
func TestNexusTools(t *testing.T) {
	for name, overHTTP := range map[string]bool{"stdio": false, "HTTP": true} {
		t.Run(name, func(t *testing.T) { nexusTools(t, overHTTP) })
	}
}

func nexusTools(t *testing.T, overHTTP bool) {
	s := serveBroker(t)
	s.hire("", "boss", "extends: trusted")
	s.hire("", "lone", "extends: sandboxed")
	boss := s.server("boss", overHTTP)
	require.Equal(t, []string{"nexus_cancel", "nexus_create", "nexus_destroy", "nexus_send", "nexus_status"}, toolNames(t, boss, "nexus_"))
	ok := func(want string, r result) {
		t.Helper()
		require.False(t, r.failed, r.text)
		require.Contains(t, r.text, want)
	}
	refused := func(want string, r result) {
		t.Helper()
		require.True(t, r.failed, r.text)
		require.Equal(t, want, r.text)
	}
	to := func(agent, content string) map[string]any {
		return map[string]any{"agent_id": agent, "content": content}
	}
	id := func(agent string) map[string]any { return map[string]any{"agent_id": agent} }

	// T21: the parent is the caller itself, and nobody else can be named.
	ok("Hired: kid\nSession: agent:kid:main\n", use(boss, "nexus_create", map[string]any{"task": "t", "agent_id": "kid"}))
	ok("Hired: sib", use(boss, "nexus_create", map[string]any{"task": "t", "agent_id": "sib", "preset": "sandboxed"}))
	refused("the parent of a new agent is its creator, 'boss': only the operator may name another",
		use(boss, "nexus_create", map[string]any{"task": "t", "agent_id": "x", "parent_id": "lone"}))
	refused(`the arguments are not what is wanted: unknown field "parent_permissions"`,
		use(boss, "nexus_create", map[string]any{"task": "t", "parent_permissions": map[string]any{}}))
	agent, err := s.as("").Agent(t.Context(), "kid")
	require.NoError(t, err)
	require.Equal(t, "boss", agent.ParentID)

	// T1, T24: listed only as the policy permits.
	kid := s.server("kid", overHTTP)
	require.Equal(t, []string{"nexus_send"}, toolNames(t, kid, "nexus_"))
	for _, tool := range []string{"nexus_create", "nexus_status", "nexus_cancel", "nexus_destroy"} {
		args := id("sib")
		if tool == "nexus_create" {
			args = map[string]any{"task": "t"}
		}
		r := use(kid, tool, args)
		require.True(t, r.failed)
		require.Contains(t, r.text, "Tool '"+tool+"' is disabled") // T17: enabled comes first
	}

	// T25: to its parent and to nobody else; the same words whether or not there
	// is such an agent.
	ok("✓ [send] sent to agent:boss:main", use(kid, "nexus_send", to("boss", "hello")))
	ok("✓ [send] sent to agent:boss:main", use(kid, "nexus_send", to("agent:boss:main", "by the key")))
	for _, other := range []string{"sib", "lone", "nobody", "kid"} {
		refused("Tool 'nexus_send' can only target parent agent ('boss')", use(kid, "nexus_send", to(other, "hi"))) // T11
	}
	lone := s.server("lone", overHTTP)
	refused("Tool 'nexus_send' can only target parent agent ('root')", use(lone, "nexus_send", to("boss", "hi"))) // T12
	refused("no agent_id provided", use(kid, "nexus_send", to("", "hi")))                                         // T10
	refused("no agent_id provided", use(kid, "nexus_send", map[string]any{"content": "hi"}))
	refused("no agent_id provided", use(boss, "nexus_status", id("")))
	require.Contains(t, use(kid, "nexus_send", to("a b", "hi")).text, `[ERROR] Invalid target: "agent:a b:main"`) // X12
	box, err := s.as("boss").Mailbox(t.Context(), false)
	require.NoError(t, err)
	var said []string
	for _, m := range box {
		require.Equal(t, "kid", m.SenderID)
		said = append(said, m.Content)
	}
	require.Equal(t, []string{"hello", "by the key"}, said)

	// T13-T15, and a list.
	for role, want := range map[string]string{
		"children": "Tool 'nexus_send' can only target child agents",
		"family":   "Tool 'nexus_send' can only target parent or child agents",
		"[boss]":   "Tool 'nexus_send' cannot target agent 'lone'",
	} {
		name := "to-" + role[:3]
		if role == "[boss]" {
			name = "to-list"
		}
		s.hire("", name, "extends: trusted\ntools: {nexus_send: {allowed_targets: "+role+"}}")
		session := s.server(name, overHTTP)
		require.Contains(t, toolNames(t, session, "nexus_"), "nexus_send")
		refused(want, use(session, "nexus_send", to("lone", "hi")))
	}

	// T8, T14: every tool that names an agent.
	refused("Tool 'nexus_status' can only target parent or child agents", use(boss, "nexus_status", id("lone")))
	refused("Tool 'nexus_cancel' can only target child agents", use(boss, "nexus_cancel", id("lone")))
	refused("Tool 'nexus_destroy' can only target child agents", use(boss, "nexus_destroy", id("lone")))
	ok("kid (working)", use(boss, "nexus_status", id("kid")))
	ok("Cancelled: kid", use(boss, "nexus_cancel", id("kid")))

	// X8: what the operator sets holds through the tools.
	_, err = s.as("").SetCross(t.Context(), "boss", brokerhttp.CrossBody{Change: "allow", Value: "agent:other:*"})
	require.NoError(t, err)
	refused(`[ERROR] Permission denied: agent "boss" cannot send to "agent:kid:main"

Agent cross_send config: allowlist mode
Allowed patterns:
  - agent:other:*

Target "agent:kid:main" does not match any allowed pattern.`, use(boss, "nexus_send", to("kid", "hi")))
	_, err = s.as("").SetCross(t.Context(), "boss", brokerhttp.CrossBody{Change: "clear"})
	require.NoError(t, err)
	ok("✓ [send] sent to agent:kid:main", use(boss, "nexus_send", to("kid", "hi")))

	// T25: a trusted agent makes a sandboxed child, which reports back.
	ok("Hired: worker\n", use(boss, "nexus_create", map[string]any{
		"task": "report", "agent_id": "worker", "preset": "sandboxed",
		"command": []string{"sh", "-c", `pinfold tell agent:boss:main "$PINFOLD_TASK done"`},
	}))
	for found := false; !found; {
		box, err := s.as("boss").Mailbox(t.Context(), true)
		require.NoError(t, err)
		for _, m := range box {
			require.NotContains(t, m.Content, "exited with code 1")
			found = found || m.SenderID == "worker" && m.Content == "report done"
		}
	}

	// T18: a parent destroys its children without being asked, even where others
	// would have to be confirmed.
	s.hire("", "careful", "extends: trusted\ntools: {nexus_destroy: {requires_confirmation: true}}")
	s.hire("careful", "own", "extends: sandboxed")
	ok("Fired: own", use(s.server("careful", overHTTP), "nexus_destroy", id("own")))
	ok("Fired: kid", use(boss, "nexus_destroy", id("kid")))
	require.True(t, use(kid, "nexus_send", to("boss", "I am gone")).failed, "who was fired says nothing more")

	// Every attempt is on record (A1), under the name of who made it.
	denied := map[string]int{}
	records, err := s.records()
	require.NoError(t, err)
	for _, r := range records {
		if r.Effect == "deny" {
			denied[r.Principal+" "+r.Tool]++
		}
	}
	require.GreaterOrEqual(t, denied["kid nexus_send"], 4)
	for _, tool := range []string{"nexus_create", "nexus_status", "nexus_cancel", "nexus_destroy"} {
		require.NotZero(t, denied["kid "+tool], tool)
	}
	require.NotZero(t, denied["lone nexus_send"])
}
