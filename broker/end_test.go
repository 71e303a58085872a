package broker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/permission"
)

// waiting has the agent wait for a request, and returns once it does.
func (w *world) waiting(who broker.Identity, r broker.Request) <-chan result[broker.Request] {
	w.Helper()
	before := len(w.waits())
	ch := background(func() (broker.Request, error) { return w.Wait(w.Context(), who, r.ID) })
	w.eventually(func() bool { return len(w.waits()) > before })
	return ch
}

// D16: whoever should have answered is gone; D7: its parent is told once.
func TestApproverGone(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	answer := w.waiting(worker, w.ask(worker, "src/a"))
	require.NoError(t, w.Exited(t.Context(), "boss", broker.Exit{Code: 3, Output: "bye\x1b[2J"}))
	require.NoError(t, w.Exited(t.Context(), "boss", broker.Exit{Code: 4}), "it is gone already")
	got := soon(t, answer)
	require.NoError(t, got.err)
	require.Equal(t, broker.Cancelled, got.value.Status)
	require.Equal(t, access.Code("approver_gone"), got.value.Code)
	require.NotEqual(t, "Denied by manager", got.value.Denial())
	box, err := w.Receive(t.Context(), operator, false)
	require.NoError(t, err)
	require.Len(t, box, 1)
	require.Equal(t, broker.TypeNotification, box[0].Type)
	require.Equal(t, `boss exited with code 3`+"\n"+`Last output: bye\x1b[2J`, box[0].Content)

	// D14: nobody is left to ask.
	d := w.Gate(worker).Check(t.Context(), write("src/b"))
	require.Equal(t, access.Code("no_manager"), d.Code)
	require.Equal(t, "No manager to approve request", d.Reason())
	_, err = w.Requests(t.Context(), manager)
	refused(t, permission.CodeNoIdentity, err)
}

// D24: interrupt cancels what is pending and leaves the agent registered.
func TestInterrupt(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	answer := w.waiting(worker, w.ask(worker, "src/a"))
	stop := background(func() (broker.Agent, error) {
		return w.AwaitAgent(t.Context(), "worker", func(a broker.Agent) bool { return a.Interrupts > 0 })
	})
	_, err := w.Interrupt(t.Context(), manager, "worker")
	require.NoError(t, err)
	require.Equal(t, access.Code("interrupted"), soon(t, answer).value.Code)
	require.Equal(t, broker.Working, soon(t, stop).value.State)
	w.ask(worker, "src/a")
	_, err = w.Interrupt(t.Context(), worker, "boss")
	refused(t, "not_granted", err)
	other := w.hire(operator, "other", managerDoc)
	_, err = w.Interrupt(t.Context(), other, "worker")
	there := refused(t, access.Code("target_not_child"), err)
	_, err = w.Interrupt(t.Context(), other, "nobody")
	require.Equal(t, there, refuseText(t, err), "the refusal does not tell who is there")
}

// D24: fire ends a whole tree, leaves first: nothing is pending, granted or in
// a mailbox of theirs afterwards, and what they have sent remains.
func TestFire(t *testing.T) {
	w := newWorld(t)
	root := w.hire(operator, "top", managerDoc)
	boss := w.hire(root, "boss", managerDoc)
	a, b := w.hire(boss, "a", workerDoc), w.hire(boss, "b", workerDoc)
	deep := must2(w.Hire(t.Context(), operator, broker.HireSpec{ID: "deep", ParentID: "a", Policy: policy(t, workerDoc)}))
	require.NoError(t, w.Started(t.Context(), deep.ID, "pid 7", ""))

	granted := w.ask(a, "src/granted")
	_, err := w.Approve(t.Context(), boss, granted.ID, broker.Answer{Scope: broker.Session})
	require.NoError(t, err)
	answer := w.waiting(b, w.ask(b, "src/a"))
	_, err = w.Send(t.Context(), boss, broker.Outgoing{To: "agent:top:main", Content: "remains"})
	require.NoError(t, err)
	_, err = w.Send(t.Context(), root, broker.Outgoing{To: "agent:boss:main", Content: "goes"})
	require.NoError(t, err)

	_, err = w.Fire(t.Context(), a, "b")
	refused(t, "tool_disabled", err)
	stopped := background(func() (struct{}, error) { return struct{}{}, w.AwaitStop(t.Context(), "boss") })
	fired := background(func() ([]broker.Agent, error) { return w.Fire(t.Context(), root, "boss") })
	_, err = w.AwaitAgent(t.Context(), "boss", func(a broker.Agent) bool { return a.State == broker.Fired })
	require.NoError(t, err)
	require.Equal(t, access.Code("agent_gone"), soon(t, answer).value.Code)
	select {
	case <-stopped:
		require.Fail(t, "a leaf still runs")
	default:
	}
	require.NoError(t, w.Exited(t.Context(), "deep", broker.Exit{Signal: "terminated"}))
	require.NoError(t, soon(t, stopped).err)
	got := soon(t, fired)
	require.NoError(t, got.err)
	require.Len(t, got.value, 4)
	require.Equal(t, "boss", got.value[3].ID, "leaves first")
	require.Equal(t, "deep", got.value[0].ID)
	for _, agent := range got.value {
		require.Equal(t, broker.Fired, agent.State)
		require.False(t, must(w.Agent(t.Context(), operator, agent.ID)).EndedAt.IsZero())
	}
	for _, list := range []func(context.Context, broker.Identity) ([]broker.Request, error){w.Requests, w.Grants} {
		rows, err := list(t.Context(), operator)
		require.NoError(t, err)
		require.Empty(t, rows)
	}
	require.False(t, w.Gate(a).Check(t.Context(), access.Request{Action: access.FSRead, Resource: "x"}).Allowed(), "nobody acts under its name")
	box, err := w.Receive(t.Context(), root, false)
	require.NoError(t, err)
	require.Len(t, box, 2)
	require.Equal(t, "remains", box[0].Content)
	require.Equal(t, "boss was fired", box[1].Content) // D7, once
	require.NoError(t, w.store.View(t.Context(), func(tx broker.ReadTx) error {
		n, err := tx.CountMessages(broker.MessageFilter{RecipientID: "boss"})
		require.Zero(t, n)
		return err
	}))
	require.Empty(t, w.waits())
	_, err = w.Fire(t.Context(), operator, "nobody")
	require.Equal(t, "Session not found: nobody", refused(t, broker.CodeNotFound, err)) // D13
}

// T18: a parent destroys its own children without being asked for confirmation;
// others it does not destroy at all.
func TestDestroyWithoutConfirmation(t *testing.T) {
	w := newWorld(t)
	root := w.hire(operator, "boss", managerDoc)
	confirms := w.hire(root, "confirms", managerDoc+"tools: {nexus_destroy: {requires_confirmation: true}, nexus_cancel: {requires_confirmation: true}}\n")
	w.hire(confirms, "worker", workerDoc)
	cancelled := background(func() (broker.Agent, error) { return w.Cancel(t.Context(), confirms, "worker") })
	w.eventually(func() bool { return len(must(w.Requests(t.Context(), root))) == 1 })
	must(w.Deny(t.Context(), root, must(w.Requests(t.Context(), root))[0].ID, "let it work"))
	require.Equal(t, "let it work", refused(t, broker.CodeDenied, soon(t, cancelled).err), "cancelling is not free of it")
	_, err := w.Fire(t.Context(), confirms, "boss")
	require.Error(t, err)
	fired, err := w.Fire(t.Context(), confirms, "worker")
	require.NoError(t, err)
	require.Len(t, fired, 1)
}

// D14: the row has vanished. SQLite shows a stranger's change to those who wait.
func TestRequestFailed(t *testing.T) {
	w := onSQLite(t)
	_, worker := w.pair()
	answer := w.waiting(worker, w.ask(worker, "src/a"))
	w.tamper(`DELETE FROM requests`)
	require.Equal(t, "Request failed", refused(t, "request_failed", soon(t, answer).err))
}

// D4: a message for an agent that has exited starts it again, in one place, if
// there is a command for that; otherwise it is not there.
func TestResume(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"gone", "back"} {
		spec := broker.HireSpec{ID: id, Policy: policy(t, workerDoc), Cwd: "/project"}
		if id == "back" {
			spec.Resume = []string{"agent", "--resume"}
		}
		must2(w.Hire(t.Context(), operator, spec))
		require.NoError(t, w.Started(t.Context(), id, "host:7", ""))
		refused(t, broker.CodeExists, w.Started(t.Context(), id, "host:8", ""))
		require.NoError(t, w.Exited(t.Context(), id, broker.Exit{Signal: "killed"}))
	}
	back := background(func() (broker.Agent, error) {
		a, _, err := w.AwaitResume(t.Context(), nil)
		return a, err
	})
	require.Equal(t, "[ERROR] Session not found: \"agent:gone:main\"\nAvailable sessions:\n  (none)", w.send(operator, "agent:gone:main"))
	require.Contains(t, w.send(operator, "agent:back:main"), "✓")
	a := soon(t, back).value
	require.Equal(t, []string{"agent", "--resume"}, a.Resume)
	require.NoError(t, w.Started(t.Context(), a.ID, "host:9", ""))
	refused(t, broker.CodeExists, w.Started(t.Context(), a.ID, "other:9", ""))
	require.Len(t, must(w.Running(t.Context())), 1)
	require.Len(t, must(w.Receive(t.Context(), broker.AgentIdentity("back"), false)), 1)
	require.NoError(t, w.Exited(t.Context(), "back", broker.Exit{Signal: "killed"}))
	texts := []string{}
	for _, m := range must(w.Receive(t.Context(), operator, false)) {
		texts = append(texts, m.Content)
	}
	require.Equal(t, []string{"gone ended by killed", "back ended by killed", "back ended by killed"}, texts) // D7: once each time
}

// D4, D19: an agent that has exited is started again for its managers, with the
// session that it had, and for nobody else; one that was fired for nobody.
func TestResumeByHand(t *testing.T) {
	w := newWorld(t)
	root, worker := w.pair()
	other, _, err := w.Hire(t.Context(), operator, broker.HireSpec{ID: "other", Policy: policy(t, managerDoc), Cwd: "/project"})
	require.NoError(t, err)
	resume := func(who broker.Identity, id string) error {
		_, err := w.Resume(t.Context(), who, id)
		return err
	}
	refused(t, broker.CodeExists, resume(root, worker.AgentID()))
	require.NoError(t, w.Exited(t.Context(), worker.AgentID(), broker.Exit{}))
	refused(t, broker.CodeNotManager, resume(broker.AgentIdentity(other.ID), worker.AgentID()))
	require.Error(t, resume(worker, worker.AgentID()))
	refused(t, broker.CodeNotFound, resume(operator, "nobody"))
	a, err := w.Resume(t.Context(), root, worker.AgentID())
	require.NoError(t, err)
	require.Equal(t, broker.Exited, a.State, "it is only decided: Started claims it")
	require.NoError(t, w.Started(t.Context(), a.ID, "host:1", ""))
	was := must(w.Agent(t.Context(), operator, a.ID))
	require.Equal(t, []any{broker.Working, a.Session, a.PolicyHash, a.ParentID}, []any{was.State, was.Session, was.PolicyHash, was.ParentID})
	require.NoError(t, w.Exited(t.Context(), a.ID, broker.Exit{}))
	require.NoError(t, resume(operator, a.ID))
	_, err = w.Fire(t.Context(), root, a.ID)
	require.NoError(t, err)
	refused(t, broker.CodeNotFound, resume(operator, a.ID))
}

// D4: a message that came while the agent was working and was not read starts it
// once it has exited, and a second time only a newer one.
func TestResumeForWhatWasNotRead(t *testing.T) {
	w := newWorld(t)
	must2(w.Hire(t.Context(), operator, broker.HireSpec{ID: "back", Policy: policy(t, workerDoc), Cwd: "/project", Resume: []string{"again"}}))
	require.NoError(t, w.Started(t.Context(), "back", "host:1", ""))
	require.Contains(t, w.send(operator, "agent:back:main"), "✓")
	given := int64(0)
	next := func() result[int64] {
		return soon(t, background(func() (int64, error) {
			_, m, err := w.AwaitResume(t.Context(), func(_ broker.Agent, m broker.Message) bool { return m.Seq > given })
			return m.Seq, err
		}))
	}
	require.NoError(t, w.Exited(t.Context(), "back", broker.Exit{}))
	given = next().value
	require.NotZero(t, given)
	require.NoError(t, w.Started(t.Context(), "back", "host:1", ""))
	require.NoError(t, w.Exited(t.Context(), "back", broker.Exit{}))
	none, cancel := context.WithCancel(t.Context())
	looked := false
	_, _, err := w.AwaitResume(none, func(_ broker.Agent, m broker.Message) bool {
		looked = true
		cancel()
		return m.Seq > given
	})
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, looked)
	require.Contains(t, w.send(operator, "agent:back:main"), "✓")
	require.Greater(t, next().value, given)
}

func refuseText(t *testing.T, err error) string {
	t.Helper()
	var e *broker.Error
	require.ErrorAs(t, err, &e)
	return e.Message
}

// D16: agents that wait for each other in a circle are told so at once.
func TestDeadlock(t *testing.T) {
	w := newWorld(t)
	root := w.hire(operator, "boss", managerDoc)
	middle := w.hire(root, "middle", managerDoc)
	worker := w.hire(middle, "worker", workerDoc+"targets: {msg.send: parent}\n")

	question := func(from broker.Identity, to string) broker.Receipt {
		sent, err := w.Send(t.Context(), from, broker.Outgoing{To: to, Verb: broker.VerbAsk, Content: "?"})
		require.NoError(t, err)
		return sent
	}
	// boss waits for middle, middle for worker, and worker would for middle.
	first, second := question(root, "agent:middle:main"), question(middle, "agent:worker:main")
	one := background(func() (broker.Message, error) { return w.AwaitAnswer(t.Context(), root, first.Message.ID) })
	w.eventually(func() bool { return len(w.waits()) == 1 })
	other := w.second() // another broker on the same store
	two := background(func() (broker.Message, error) { return other.AwaitAnswer(t.Context(), middle, second.Message.ID) })
	w.eventually(func() bool { return len(w.waits()) == 2 })
	d := w.Gate(worker).Check(t.Context(), write("src/a"))
	require.Equal(t, access.Code("deadlock"), d.Code)
	require.Empty(t, must(w.Requests(t.Context(), middle)))

	// A question closes the circle as well: then asking is refused.
	third := question(worker, "agent:middle:main")
	_, err := w.AwaitAnswer(t.Context(), worker, third.Message.ID)
	refused(t, "deadlock", err)

	// Without the circle the same wait stands, and the answers come.
	for _, answer := range []struct {
		who broker.Identity
		to  string
		ask broker.Receipt
		ch  <-chan result[broker.Message]
	}{{worker, "agent:middle:main", second, two}, {middle, "agent:boss:main", first, one}} {
		must(w.Receive(t.Context(), answer.who, false))
		_, err := w.Send(t.Context(), answer.who, broker.Outgoing{To: answer.to, Verb: broker.VerbAnswer, ReplyTo: answer.ask.Message.ID, Content: "!"})
		require.NoError(t, err)
		got := soon(t, answer.ch)
		require.NoError(t, got.err)
		require.Equal(t, "!", got.value.Content)
	}
	w.eventually(func() bool { return len(w.waits()) == 0 })
	r := w.ask(worker, "src/a")
	ch := w.waiting(worker, r)
	must(w.Approve(t.Context(), middle, r.ID, broker.Answer{}))
	require.True(t, soon(t, ch).value.Approval())
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// D16: a policy's longest wait, which is nobody's denial; a grant until a time.
func TestTimesThatAreOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := onSQLite(t)
		manager := w.hire(operator, "boss", managerDoc)
		worker := w.hire(manager, "worker", workerDoc+"approvals: {max_wait: 1m}\n")
		began := time.Now()
		d := w.Gate(worker).Check(t.Context(), write("src/a"))
		require.Equal(t, access.Code("expired"), d.Code)
		require.NotContains(t, d.Reason(), "Denied")
		require.GreaterOrEqual(t, time.Since(began), time.Minute)

		r := w.ask(worker, "src/a")
		time.Sleep(2 * time.Minute)
		require.Empty(t, must(w.Requests(t.Context(), manager)))
		_, err := w.Approve(t.Context(), manager, r.ID, broker.Answer{})
		require.Regexp(t, `^Already expired by the broker \(expired\) at `, refused(t, broker.CodeResolved, err))

		r = w.ask(worker, "src/a")
		must(w.Approve(t.Context(), manager, r.ID, broker.Answer{Scope: broker.Until, Until: time.Now().Add(time.Minute)}))
		call := write("src/a")
		call.MayBlock = false
		require.True(t, w.Gate(worker).Check(t.Context(), call).Allowed())
		time.Sleep(2 * time.Minute)
		require.False(t, w.Gate(worker).Check(t.Context(), call).Allowed())
		require.Empty(t, must(w.Grants(t.Context(), manager)))
	})
}

// The record of a start says as which user it was, and how; the row too, while it runs.
func TestHowItRuns(t *testing.T) {
	w := newWorld(t)
	w.hire(operator, "solo", workerDoc)
	for process, how := range map[string]string{"serve, /a; user 7": broker.How(1000, "program sh", "launch profile x"), "b": broker.How(0), "c": ""} {
		require.NoError(t, w.Started(t.Context(), "solo", process, how))
		a := must(w.Agent(t.Context(), operator, "solo"))
		last := must(w.Records(t.Context(), operator, broker.RecordFilter{Action: "start", Last: true, Limit: 1}))[0]
		require.NoError(t, w.Exited(t.Context(), "solo", broker.Exit{}))
		if how == "" {
			require.Equal(t, []any{"c", "policy 'p'"}, []any{a.Process, last.Reason}, "nobody knows")
			continue
		}
		require.Equal(t, []any{process + "; " + how, process, "policy 'p'; " + how}, []any{a.Process, a.ProcessName(), last.Reason})
	}
	require.Equal(t, "user 1000, program sh", broker.How(1000, "program sh"))
}
