package broker_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/permission"
)

// send sends and returns the receipt's text or the refusal's.
func (w *world) send(who broker.Identity, to string) string {
	w.Helper()
	r, err := w.Send(w.Context(), who, broker.Outgoing{To: to, Content: "x"})
	if err != nil {
		return refuseText(w.T, err)
	}
	return r.Text
}

// T25: child to parent is delivered, child to sibling and a first agent to another are
// refused, in the words of T11; X15.
func TestSendEndToEnd(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	w.hire(manager, "sibling", workerDoc)
	solo := w.hire(operator, "solo", workerDoc)
	require.Equal(t, "✓ [send] sent to agent:boss:main", w.send(worker, "agent:boss:main"))
	require.Equal(t, "Tool 'nexus_send' can only target parent agent ('boss')", w.send(worker, "agent:sibling:main")) // T11
	require.Equal(t, "Tool 'nexus_send' can only target parent agent ('root')", w.send(solo, "agent:boss:main"))
	require.Equal(t, "no agent_id provided", w.send(worker, "")) // T10
	require.Equal(t, "no agent_id provided", w.send(worker, "agent::main"))
	box := must(w.Receive(t.Context(), manager, false))
	require.Len(t, box, 1)
	require.Equal(t, "worker", box[0].SenderID)
	require.Equal(t, broker.TypeManager, box[0].Type)
}

// X7: type, key, ACL, existence: who is refused learns nothing of who is there.
func TestOrderOfSendChecksX7(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	w.hire(manager, "sibling", workerDoc)
	there, gone := w.send(worker, "agent:sibling:main"), w.send(worker, "agent:nobody:main")
	require.Equal(t, there, gone)
	_, err := w.Send(t.Context(), worker, broker.Outgoing{To: "sibling", Verb: "notify"})
	require.Equal(t, "[ERROR] Invalid type: \"notify\"\nValid types: send, contextualize, execute, ask, answer", refuseText(t, err)) // X14
	// X12, X13: only what the caller may send to is suggested.
	require.Equal(t, "[ERROR] Invalid target: \"main\"\nTarget must be a full session key (e.g., agent:main:main)\nDid you mean:\n  agent:boss:main → no routing", w.send(worker, "main"))
	require.Equal(t, "[ERROR] Invalid target: \"x\"\nTarget must be a full session key (e.g., agent:main:main)\nDid you mean:\n  (none)", w.send(w.hire(manager, "mute", "version: 1\nextends: sandboxed\ntools: {nexus_send: {allowed_targets: []}}\n"), "x"))
	require.Equal(t, "[ERROR] Session not found: \"agent:boss:other\"\nAvailable sessions:\n  agent:boss:main → no routing", w.send(worker, "agent:boss:other"))
	for _, bad := range []string{"agent:root", "agent:boss:", "agent:ro ot:main", "agent:boss:a:\x1b[2J", "user:root:main", strings.Repeat("agent:a:", 9999)} {
		require.Contains(t, w.send(worker, bad), "[ERROR] Invalid target: ")
	}
	require.NotContains(t, w.send(worker, "agent:boss:\x1b[2J"), "\x1b")
}

// X1, X2, X6, X8: what the operator sets is intersected with the policy.
func TestCrossSend(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	set := func(change broker.CrossChange) string {
		_, text, err := w.SetCross(t.Context(), operator, "boss", change)
		require.NoError(t, err)
		return text
	}
	require.Contains(t, w.send(manager, "agent:worker:main"), "✓ [send] sent to agent:worker:main")
	set(broker.CrossChange{Allow: "agent:other:*"})
	require.Equal(t, `[ERROR] Permission denied: agent "boss" cannot send to "agent:worker:main"

Agent cross_send config: allowlist mode
Allowed patterns:
  - agent:other:*

Target "agent:worker:main" does not match any allowed pattern.`, w.send(manager, "agent:worker:main")) // X8
	set(broker.CrossChange{Deny: "agent:worker:*"})
	set(broker.CrossChange{Mode: permission.Denylist})
	require.Equal(t, `[ERROR] Permission denied: agent "boss" cannot send to "agent:worker:main"

Agent cross_send config: denylist mode
Denied patterns:
  - agent:worker:*

Target "agent:worker:main" matches denied pattern "agent:worker:*".`, w.send(manager, "agent:worker:main"))
	c := must(w.Cross(t.Context(), operator, "boss"))
	require.Equal(t, broker.Cross{
		Agent: "boss", Mode: permission.Denylist, Allowlist: []string{"agent:other:*"}, Denylist: []string{"agent:worker:*"},
		InForce: []broker.CrossList{{Mode: permission.Denylist, Patterns: []string{"agent:worker:*"}, From: "agents cross"}},
	}, c, "X3: changing the mode keeps both lists")
	require.Equal(t, "removed from the denylist: agent:worker:*", set(broker.CrossChange{Remove: "agent:worker:*"}))
	require.Contains(t, w.send(manager, "agent:worker:main"), "✓")
	set(broker.CrossChange{Clear: true})
	require.Empty(t, must(w.Cross(t.Context(), operator, "boss")).Mode)

	// It never widens: the worker's policy lets it send to its parent alone.
	_, _, err := w.SetCross(t.Context(), manager, "worker", broker.CrossChange{Mode: permission.Bypass})
	require.NoError(t, err, "a manager sets its child's")
	require.Equal(t, "Tool 'nexus_send' can only target parent agent ('boss')", w.send(worker, "agent:solo:main"))
	for _, who := range []broker.Identity{worker, {}} {
		_, _, err = w.SetCross(t.Context(), who, "worker", broker.CrossChange{Mode: permission.Bypass})
		require.Error(t, err)
	}
	for _, bad := range []broker.CrossChange{{}, {Allow: "agent:m*:x"}, {Mode: "any"}, {Remove: "agent:none:x"}} {
		_, _, err = w.SetCross(t.Context(), operator, "boss", bad)
		require.Error(t, err)
	}
}

// X16: rates, counted where all brokers see them; a person has none.
func TestRatesX16(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := onSQLite(t)
		w.Close()
		w.rates = broker.Rates{} // the defaults: 30 a minute for a pair, 10 at once
		b := must(broker.New(t.Context(), broker.Options{Store: w.store}))
		w.Broker = b
		other := must(broker.New(t.Context(), broker.Options{Store: w.store}))
		defer other.Close()
		_, worker := w.pair()
		send := func(b *broker.Broker) error {
			_, err := b.Send(t.Context(), worker, broker.Outgoing{To: "agent:boss:main"})
			return err
		}
		for i := range 10 {
			require.NoError(t, send([]*broker.Broker{b, other}[i%2]), i)
		}
		for _, b := range []*broker.Broker{b, other} {
			require.Contains(t, refused(t, broker.CodeRateLimited, send(b)), "30 messages a minute from \"worker\" to \"boss\"")
		}
		time.Sleep(2 * time.Second)
		require.NoError(t, send(other))
		refused(t, broker.CodeRateLimited, send(b))
		for range 40 {
			_, err := w.Send(t.Context(), operator, broker.Outgoing{To: "agent:worker:main"})
			require.NoError(t, err)
		}
	})
}

// X16: a chain of messages with no person in between ends.
func TestLoopsAndHopsX16(t *testing.T) {
	w := newWorld(t)
	var agents []broker.Identity
	for i := range 10 {
		agents = append(agents, w.hire(operator, string(rune('a'+i)), managerDoc))
	}
	pass := func(from, to int) error {
		_, err := w.Send(t.Context(), agents[from], broker.Outgoing{To: "agent:" + agents[to].AgentID() + ":main"})
		if err == nil {
			_, err = w.Receive(t.Context(), agents[to], false)
		}
		return err
	}
	person := func(to int) {
		_, err := w.Send(t.Context(), operator, broker.Outgoing{To: "agent:" + agents[to].AgentID() + ":main"})
		require.NoError(t, err)
		must(w.Receive(t.Context(), agents[to], false))
	}
	for i := range 8 {
		require.NoError(t, pass(i, i+1), i)
	}
	refused(t, "hop_limit", pass(8, 9))
	person(8)
	require.NoError(t, pass(8, 9), "a person begins anew")

	person(0)
	for range 2 {
		require.NoError(t, pass(0, 1))
		require.NoError(t, pass(1, 0))
	}
	require.Contains(t, refused(t, "loop", pass(0, 1)), `"a" would send to "b" for the 3rd time`)
	require.NoError(t, pass(0, 2), "another edge")
	person(0)
	require.NoError(t, pass(0, 1))
}

// X14's verbs: one answer closes an ask, and only whoever was asked gives it.
func TestAskAndAnswer(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	ask, err := w.Send(t.Context(), operator, broker.Outgoing{To: "agent:worker:main", Verb: broker.VerbAsk, Content: "how far?"})
	require.NoError(t, err)
	answer := broker.Outgoing{To: "agent:boss:main", Verb: broker.VerbAnswer, ReplyTo: ask.Message.ID, Content: "far"}
	_, err = w.Send(t.Context(), worker, answer)
	refused(t, broker.CodeNotFound, err) // it has not read it
	must(w.Receive(t.Context(), worker, false))
	_, err = w.Send(t.Context(), manager, answer)
	refused(t, broker.CodeNotFound, err) // it was not asked
	_, err = w.Send(t.Context(), worker, answer)
	require.NoError(t, err, "a person who asked is answered, whatever the target")
	got, err := w.AwaitAnswer(t.Context(), operator, ask.Message.ID)
	require.NoError(t, err)
	require.Equal(t, "far", got.Content)
	_, err = w.Send(t.Context(), worker, answer)
	refused(t, broker.CodeResolved, err)
	_, err = w.AwaitAnswer(t.Context(), worker, ask.Message.ID)
	refused(t, broker.CodeNotFound, err)
}
