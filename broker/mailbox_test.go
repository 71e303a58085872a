package broker_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// D4, D7: an agent that waits is idle, which its parent is told once; a message
// wakes it at once, and it is working again.
func TestIdleAndWoken(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	state := func() broker.State { return must(w.Agent(t.Context(), manager, "worker")).State }
	require.Equal(t, broker.Working, state())
	got := background(func() ([]broker.Message, error) { return w.Receive(t.Context(), worker, true) })
	a, err := w.Await(t.Context(), manager, "worker")
	require.NoError(t, err)
	require.Equal(t, "worker", a.ID)
	w.eventually(func() bool { return state() == broker.Idle })

	// What only adds context wakes nobody, and comes along with what does.
	sent := func(verb broker.Verb, text string) {
		_, err := w.Send(t.Context(), manager, broker.Outgoing{To: "agent:worker:main", Verb: verb, Content: text})
		require.NoError(t, err)
	}
	sent(broker.VerbContextualize, "by the way")
	require.Equal(t, broker.Idle, state())
	sent(broker.VerbExecute, "go on")
	list := soon(t, got)
	require.NoError(t, list.err)
	require.Len(t, list.value, 2)
	require.Equal(t, "by the way", list.value[0].Content, "in order") // D5
	require.Equal(t, broker.Working, state())

	// A working agent finds what came, once.
	sent(broker.VerbSend, "queued")
	require.Len(t, must(w.Receive(t.Context(), worker, false)), 1)
	require.Empty(t, must(w.Receive(t.Context(), worker, false)))

	box := must(w.Receive(t.Context(), manager, false))
	require.Len(t, box, 1, "one notification for one time of being idle")
	require.Equal(t, "worker is idle", box[0].Content)

	// Idle again without having worked is not told again.
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		ch := background(func() ([]broker.Message, error) { return w.Receive(ctx, worker, true) })
		w.eventually(func() bool { return state() == broker.Idle })
		cancel()
		require.ErrorIs(t, soon(t, ch).err, context.Canceled)
	}
	require.Len(t, must(w.Receive(t.Context(), manager, false)), 1)
}

// D5: delivered once, to one of those who wait; acknowledged by whoever has it.
func TestDeliveredOnceAndAcknowledged(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	other := w.second()
	const messages, readers = 60, 4
	all := make(chan result[[]broker.Message], messages)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i := range readers {
		b := []*broker.Broker{w.Broker, other}[i%2]
		go func() {
			for {
				list, err := b.Receive(ctx, worker, true)
				if ctx.Err() != nil {
					return
				}
				all <- result[[]broker.Message]{list, err}
			}
		}()
	}
	sent := map[string]bool{}
	for range messages {
		r, err := w.Send(t.Context(), manager, broker.Outgoing{To: "agent:worker:main", Content: "x"})
		require.NoError(t, err)
		sent[r.Message.ID] = true
	}
	var got []string
	for len(got) < messages {
		r := soon(t, all)
		require.NoError(t, r.err)
		for _, m := range r.value {
			require.True(t, sent[m.ID], "twice")
			delete(sent, m.ID)
			got = append(got, m.ID)
		}
	}
	cancel()
	require.Len(t, w.unacked(t, worker), messages)
	require.Equal(t, 0, must(w.Ack(t.Context(), manager, got...)), "they are another's")
	require.Equal(t, messages, must(w.Ack(t.Context(), worker, got...)))
	require.Equal(t, 0, must(w.Ack(t.Context(), worker, got...)))
	require.Empty(t, w.unacked(t, worker))
}

// unacked are the messages that the recipient has not acknowledged.
func (w *world) unacked(t *testing.T, who broker.Identity) (list []broker.Message) {
	t.Helper()
	require.NoError(t, w.store.View(t.Context(), func(tx broker.ReadTx) (err error) {
		list, err = tx.Messages(broker.MessageFilter{RecipientID: who.String(), Unacked: true})
		return err
	}))
	return list
}

// D30: status acknowledges and delivers nothing.
func TestStatusChangesNothing(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	w.ask(worker, "src/a")
	_, err := w.Send(t.Context(), manager, broker.Outgoing{To: "agent:worker:main", Content: "x"})
	require.NoError(t, err)
	for range 2 {
		s := must(w.Status(t.Context(), manager))
		require.Equal(t, "boss", s.You)
		require.Equal(t, broker.Working, s.State)
		require.Equal(t, 1, s.Pending)
		require.Len(t, s.Messages, 1)
		require.Len(t, s.Agents, 1)
		require.Equal(t, 1, s.Agents[0].Requests)
		require.Equal(t, 1, s.Agents[0].Queued)
	}
	require.Len(t, must(w.Status(t.Context(), operator)).Agents, 2)
	require.Empty(t, must(w.Status(t.Context(), worker)).Agents)
	require.Len(t, must(w.Receive(t.Context(), manager, false)), 1)
}

// D2, T21, M6: who hires, under whom, and with what.
func TestHire(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	spec := broker.HireSpec{ID: "x", Policy: policy(t, workerDoc)}
	_, _, err := w.Hire(t.Context(), worker, spec)
	require.Contains(t, refuseText(t, err), "nexus_create")
	spec.ParentID = "worker"
	_, _, err = w.Hire(t.Context(), manager, spec)
	refused(t, broker.CodeOperatorOnly, err) // T21
	_, _, err = w.Hire(t.Context(), operator, spec)
	require.NoError(t, err, "the operator may name a parent")
	require.Equal(t, "worker", must(w.Agent(t.Context(), operator, "x")).ParentID)
	require.Equal(t, "/project", must(w.Agent(t.Context(), operator, "x")).Cwd)

	// M6: more than the parent has is refused with the rule, unless clamped.
	greedy := broker.HireSpec{ID: "y", ParentID: "worker", Policy: policy(t, "version: 1\nextends: trusted\n")}
	_, _, err = w.Hire(t.Context(), operator, greedy)
	require.ErrorContains(t, err, "may not be written")
	greedy.OnExcess = 1
	a, excess, err := w.Hire(t.Context(), operator, greedy)
	require.NoError(t, err)
	require.NotEmpty(t, excess)
	require.NotEmpty(t, a.PolicyHash)
	require.False(t, w.Gate(broker.AgentIdentity("y")).Check(t.Context(), write("etc")).Allowed())

	for _, bad := range []broker.HireSpec{
		{ID: "worker", Policy: spec.Policy, Cwd: "/project"}, {ID: "parent", Policy: spec.Policy, Cwd: "/project"}, {ID: "operator", Policy: spec.Policy, Cwd: "/project"},
		{ID: "a b", Policy: spec.Policy, Cwd: "/project"}, {ID: "z", Cwd: "/project"}, {ID: "z", Policy: spec.Policy}, {ID: "z", Policy: spec.Policy, Cwd: "rel"},
		{ID: "z", Policy: spec.Policy, Cwd: "/elsewhere", ParentID: "boss"}, {ID: "z", Policy: spec.Policy, Cwd: "/project", ParentID: "nobody"},
		{ID: "z", Policy: spec.Policy, Cwd: "/project", Task: "\x00"},
	} {
		_, _, err := w.Hire(t.Context(), operator, bad)
		require.Error(t, err, bad.ID)
	}
	made, _, err := w.Hire(t.Context(), operator, broker.HireSpec{Policy: spec.Policy, Cwd: "/project"})
	require.NoError(t, err)
	require.Equal(t, "agent:"+made.ID+":main", made.Session)
}

// D1: what an agent may do to others only after asking is asked for, and done
// once it is approved.
func TestHireAfterAsking(t *testing.T) {
	w := newWorld(t)
	asks := w.hire(operator, "asks", managerDoc+"defaults: {agent.spawn: ask}\n")
	hired := background(func() (broker.Agent, error) {
		a, _, err := w.Hire(t.Context(), asks, broker.HireSpec{ID: "new", Policy: policy(t, workerDoc), Task: "count"})
		return a, err
	})
	w.eventually(func() bool { return len(must(w.Requests(t.Context(), operator))) == 1 })
	r := must(w.Requests(t.Context(), operator))[0]
	require.Contains(t, r.Input, `"task":"count"`)
	must(w.Approve(t.Context(), operator, r.ID, broker.Answer{}))
	got := soon(t, hired)
	require.NoError(t, got.err)
	require.Equal(t, "asks", got.value.ParentID)
	require.Equal(t, broker.Consumed, must(w.Request(t.Context(), asks, r.ID)).Status)
}

// A token is the agent's identity until it is replaced or the agent ends.
func TestToken(t *testing.T) {
	w := newWorld(t)
	_, worker := w.pair()
	_, err := w.NewToken(t.Context(), worker, "worker")
	refused(t, broker.CodeOperatorOnly, err)
	first := must(w.NewToken(t.Context(), operator, "worker"))
	require.Equal(t, worker, must(w.ByToken(t.Context(), first)))
	second := must(w.NewToken(t.Context(), operator, "worker"))
	for _, bad := range []string{"", "x", first} {
		_, err := w.ByToken(t.Context(), bad)
		require.Error(t, err)
	}
	require.Equal(t, worker, must(w.ByToken(t.Context(), second)))
	must(w.Fire(t.Context(), operator, "worker"))
	_, err = w.ByToken(t.Context(), second)
	require.Error(t, err)
}
