package broker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/permission"
)

// D30, X2: the operator is root, and has a session. The agents that it has hired report to
// it, whatever their policy; others only where their send ACL says so, or where root asks.
func TestRootIsTheOperator(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	solo := w.hire(operator, "solo", workerDoc)
	st := must(w.Status(t.Context(), operator))
	require.Equal(t, []any{"root", broker.Idle}, []any{st.You, st.State})

	// Who is sandboxed may send to its parent alone, which is root.
	require.Contains(t, w.send(solo, "agent:root:main"), "✓ [send] sent to agent:root:main")
	require.Contains(t, w.send(manager, "agent:root:main"), "✓ [send] sent to agent:root:main")
	require.Equal(t, "Tool 'nexus_send' can only target parent agent ('boss')", w.send(worker, "agent:root:main"))
	require.Contains(t, w.send(solo, "agent:root:other"), "[ERROR] Session not found: \"agent:root:other\"\nAvailable sessions:\n  agent:root:main")
	require.Equal(t, "Tool 'nexus_send' can only target parent agent ('root')", w.send(solo, "agent:boss:main"), "agents of root are no siblings")
	box := must(w.Receive(t.Context(), operator, false))
	require.Len(t, box, 2)
	require.Equal(t, []any{"solo", "root", broker.TypeManager}, []any{box[0].SenderID, box[0].RecipientID, box[0].Type})

	// Siblings are agents that one agent has put together.
	brother := w.hire(operator, "brother", "version: 1\nextends: trusted\ntools: {nexus_send: {allowed_targets: siblings}}\n")
	require.Contains(t, w.send(brother, "agent:solo:main"), "can")
	require.NotContains(t, w.send(brother, "agent:solo:main"), "✓")

	// A question to root waits for a person, and its answer closes it.
	ask := must(w.Send(t.Context(), solo, broker.Outgoing{To: "agent:root:main", Verb: broker.VerbAsk, Content: "which?"}))
	got := background(func() (broker.Message, error) { return w.AwaitAnswer(t.Context(), solo, ask.Message.ID) })
	require.Len(t, must(w.Receive(t.Context(), operator, false)), 1)
	must(w.Send(t.Context(), operator, broker.Outgoing{To: "agent:solo:main", Verb: broker.VerbAnswer, Content: "this", ReplyTo: ask.Message.ID}))
	answer := soon(t, got)
	require.NoError(t, answer.err)
	require.Equal(t, []any{"root", "this"}, []any{answer.value.SenderID, answer.value.Content})

	// nexus_status tells of root, and nothing that an agent can do is done to it.
	require.Equal(t, broker.Seen{ID: "root", Session: "agent:root:main", State: broker.Idle}, must(w.StatusOf(t.Context(), manager, "root")))
	require.Error(t, second(w.Fire(t.Context(), manager, "root")))
	require.Error(t, second(w.Cancel(t.Context(), manager, "root")))
	require.Error(t, second(w.Interrupt(t.Context(), manager, "root")))
	_, _, err := w.SetCross(t.Context(), manager, "root", broker.CrossChange{Mode: permission.Bypass})
	require.Equal(t, "Session not found: root", refused(t, broker.CodeNotFound, err))

	// The operator is its agents' parent by that name, too; and nobody can take it.
	child := must2(w.Hire(t.Context(), operator, broker.HireSpec{ID: "byname", ParentID: "root", Cwd: t.TempDir(), Policy: policy(t, workerDoc)}))
	require.Empty(t, child.ParentID)
	for _, name := range []string{"root", "operator"} {
		_, _, err := w.Hire(t.Context(), operator, broker.HireSpec{ID: name, Cwd: t.TempDir(), Policy: policy(t, workerDoc)})
		refused(t, broker.CodeInvalid, err)
	}
	require.Equal(t, access.Code("no_identity"), w.Gate(broker.AgentIdentity("root")).Check(t.Context(), write("docs/a")).Code)
}
