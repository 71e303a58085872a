package broker_test

import (
	"context"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// D1: what is marked ask waits for the manager, and goes on where it stood or
// gets the denial. What is allowed or denied is nobody's to answer.
func TestAskAndGoOn(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	gate := w.Gate(worker)
	require.True(t, gate.Check(t.Context(), write("docs/a")).Allowed())
	require.Equal(t, pathresolver.RuleNoWritePath, gate.Check(t.Context(), write("etc")).Code)

	answer := background(func() (access.Decision, error) { return gate.Check(t.Context(), write("src/a")), nil })
	got, err := w.Receive(t.Context(), manager, true)
	require.NoError(t, err)
	require.Len(t, got, 1)
	rows, err := w.Requests(t.Context(), manager)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	_, err = w.Approve(t.Context(), manager, rows[0].ID, broker.Answer{})
	require.NoError(t, err)
	d := soon(t, answer).value
	require.True(t, d.Allowed(), d.Text())
	require.Equal(t, "grant:"+rows[0].ID, d.Rule)

	// Once is once: the row is consumed, and the next one is another row.
	again, err := w.Request(t.Context(), worker, rows[0].ID)
	require.NoError(t, err)
	require.Equal(t, broker.Consumed, again.Status)
	next := w.ask(worker, "src/a")
	require.NotEqual(t, rows[0].ID, next.ID)

	denied := background(func() (access.Decision, error) { return gate.Check(t.Context(), write("src/b")), nil })
	var second broker.Request
	w.eventually(func() bool {
		rows, err := w.Requests(t.Context(), manager)
		for _, r := range rows {
			if r.Resource == "src/b" {
				second = r
			}
		}
		return err == nil && second.ID != ""
	})
	_, err = w.Deny(t.Context(), manager, second.ID, "not today")
	require.NoError(t, err)
	d = soon(t, denied).value
	require.Equal(t, broker.CodeDenied, d.Code)
	require.Equal(t, "not today", d.Reason()) // D14
}

// D6: the message that a manager reads, to the letter.
func TestRequestMessage(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	r := w.ask(worker, "src/a")
	got, err := w.Receive(t.Context(), manager, false)
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, broker.TypePermissionRequest, got[0].Type) // D5
	require.Equal(t, "[Permission Request from worker]\nTool: write_file\nInput: {\"path\":\"src/a\"}\nRequest ID: "+r.ID+
		"\n\nRespond with:\n  pinfold approve "+r.ID+"\n  pinfold deny "+r.ID+" --reason \"...\"", got[0].Content)
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, r.ID) // D18
}

// D1: root's inbox is the operator's. D19: nobody else answers.
func TestWhoMayAnswer(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	sibling := w.hire(manager, "sibling", workerDoc)
	asks := w.hire(operator, "solo", workerDoc)
	r, own := w.ask(worker, "src/a"), w.ask(asks, "src/a")
	for _, who := range []broker.Identity{worker, sibling, asks, operator} {
		_, err := w.Approve(t.Context(), who, r.ID, broker.Answer{})
		require.Equal(t, "Only the agent's manager can approve", refused(t, broker.CodeNotManager, err)) // D13
		require.ErrorIs(t, err, fs.ErrPermission)
		_, err = w.Deny(t.Context(), who, r.ID, "")
		require.Equal(t, "Only the agent's manager can approve", refused(t, broker.CodeNotManager, err)) // D14
	}
	_, err := w.Approve(t.Context(), broker.Identity{}, r.ID, broker.Answer{})
	refused(t, permission.CodeNoIdentity, err) // M10
	_, err = w.Approve(t.Context(), broker.AgentIdentity("nobody"), r.ID, broker.Answer{})
	refused(t, permission.CodeNoIdentity, err)
	_, err = w.Approve(t.Context(), manager, "00000000-0000-7000-8000-000000000000", broker.Answer{})
	require.Equal(t, "Approval not found: 00000000-0000-7000-8000-000000000000", refused(t, broker.CodeNotFound, err)) // D13
	rows, err := w.Requests(t.Context(), operator)
	require.NoError(t, err)
	require.Equal(t, []string{own.ID}, ids(rows)) // D14: what the caller may resolve
	_, err = w.Approve(t.Context(), operator, own.ID, broker.Answer{})
	require.NoError(t, err)
	_, err = w.Approve(t.Context(), manager, r.ID, broker.Answer{})
	require.NoError(t, err)
}

// D13: the same answer again is no error; another one is, and says who and when.
func TestAnswerTwice(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	r := w.ask(worker, "src/a")
	first, err := w.Deny(t.Context(), manager, r.ID, "")
	require.NoError(t, err)
	require.Equal(t, "Denied by manager", first.Denial()) // D14
	again, err := w.Deny(t.Context(), manager, r.ID, "other words")
	require.NoError(t, err)
	require.Equal(t, first, again)
	_, err = w.Approve(t.Context(), manager, r.ID, broker.Answer{})
	require.Regexp(t, `^Already denied by boss at \d{4}-`, refused(t, broker.CodeResolved, err))
	require.False(t, w.Gate(worker).Check(t.Context(), access.Request{Action: access.FSWrite, Resource: "src/a"}).Allowed())
}

// Who answers too late is told of the answer, and not of what has become of the leave alone.
func TestAnswerAfterApproval(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	late := func(r broker.Request) string {
		t.Helper()
		_, err := w.Deny(t.Context(), manager, r.ID, "no")
		return refused(t, broker.CodeResolved, err)
	}
	const approved = `^Already approved by boss at \d{4}-[0-9T:-]+Z`
	used := w.ask(worker, "src/used")
	must(w.Approve(t.Context(), manager, used.ID, broker.Answer{}))
	require.Regexp(t, approved+`$`, late(used))
	require.True(t, w.Gate(worker).Decide(t.Context(), write("src/used")).Allowed())
	require.Regexp(t, approved+`, and used$`, late(used))

	withdrawn := w.ask(worker, "src/withdrawn")
	must(w.Approve(t.Context(), manager, withdrawn.ID, broker.Answer{Scope: broker.Path}))
	require.Regexp(t, approved+`$`, late(withdrawn))
	must(w.Revoke(t.Context(), operator, withdrawn.ID))
	require.Regexp(t, approved+`, and withdrawn since$`, late(withdrawn), "it was the manager who approved, and the operator who withdrew it")
}

// D21: who may not do it itself cannot approve it, and the request ends denied.
func TestApproverLacksPermission(t *testing.T) {
	w := newWorld(t)
	root := w.hire(operator, "boss", managerDoc)
	middle := w.hire(root, "middle", managerDoc+"fs: {ask_write: [src]}\n")
	worker := w.hire(middle, "worker", workerDoc)
	r := w.ask(worker, "src/a")
	_, err := w.Approve(t.Context(), middle, r.ID, broker.Answer{})
	require.Contains(t, refused(t, "approver_lacks_permission", err), "approver_lacks_permission")
	r, err = w.Wait(t.Context(), worker, r.ID)
	require.NoError(t, err)
	require.Equal(t, broker.Denied, r.Status)
	require.Equal(t, access.Code("approver_lacks_permission"), r.Code)

	// With leave of its own it may.
	own, err := w.Ask(t.Context(), middle, write("src"))
	require.NoError(t, err)
	_, err = w.Approve(t.Context(), root, own.ID, broker.Answer{Scope: broker.Subtree})
	require.NoError(t, err)
	r = w.ask(worker, "src/a")
	r, err = w.Approve(t.Context(), middle, r.ID, broker.Answer{Scope: broker.Path})
	require.NoError(t, err)
	require.True(t, w.Gate(worker).Check(t.Context(), write("src/a")).Allowed())
	// And what it gave ends with its own leave, since it is within that.
	_, err = w.Revoke(t.Context(), root, own.ID)
	require.NoError(t, err)
	call := write("src/a")
	call.MayBlock = false
	require.False(t, w.Gate(worker).Check(t.Context(), call).Allowed())
	require.Equal(t, broker.Active, r.Status)
}

// D22: of many answers one wins, whoever else has a say in it.
func TestOneResolverWins(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	other := w.second()
	rounds := 20
	if os.Getenv("PINFOLD_LONG") != "" {
		rounds = 500
	}
	for range rounds {
		r := w.ask(worker, "src/a")
		var approved, denied, conflicts atomic.Int32
		var all sync.WaitGroup
		for i := range 16 {
			b := []*broker.Broker{w.Broker, other}[i%2]
			all.Go(func() {
				var err error
				if i%4 < 2 {
					_, err = b.Approve(context.Background(), manager, r.ID, broker.Answer{})
				} else {
					_, err = b.Deny(context.Background(), manager, r.ID, "no")
				}
				switch {
				case err != nil:
					conflicts.Add(1)
				case i%4 < 2:
					approved.Add(1)
				default:
					denied.Add(1)
				}
			})
		}
		all.Wait()
		require.Equal(t, int32(8), approved.Load()+denied.Load(), "the same answer again is no error")
		require.True(t, approved.Load() == 0 || denied.Load() == 0)
		require.Equal(t, int32(8), conflicts.Load())
		records, err := w.Records(t.Context(), operator, broker.RecordFilter{Last: true, Limit: 100})
		require.NoError(t, err)
		wins := 0
		for _, rec := range records {
			if rec.RequestID == r.ID && (rec.Action == "approve" && rec.Effect == access.Allow || rec.Action == "deny" && rec.Code == access.Code(broker.Denied)) {
				wins++
			}
		}
		require.Equal(t, 1, wins)
		if approved.Load() > 0 {
			require.True(t, w.Gate(worker).Check(t.Context(), write("src/a")).Allowed())
		}
	}
}

// D23: each request its own id, the same while pending the same row; others are
// other rows.
func TestSameRequestIsTheSameRow(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	r := w.ask(worker, "src/a")
	require.Equal(t, r.ID, w.ask(worker, "src/a").ID)
	require.NotEqual(t, r.ID, w.ask(worker, "src/b").ID)
	changed := write("src/a")
	changed.Input = []byte(`{"path": "src/a", "content": "x"}`)
	other, err := w.Ask(t.Context(), worker, changed)
	require.NoError(t, err)
	require.NotEqual(t, r.ID, other.ID)

	// D6: the answer is bound to the request that was seen.
	_, err = w.Approve(t.Context(), manager, r.ID, broker.Answer{Digest: other.Digest})
	refused(t, broker.CodeMismatch, err)
	_, err = w.Approve(t.Context(), manager, r.ID, broker.Answer{Digest: r.Digest})
	require.NoError(t, err)
	changed.MayBlock = false
	require.False(t, w.Gate(worker).Check(t.Context(), changed).Allowed(), "the approval was of another request")
	require.True(t, w.Gate(worker).Check(t.Context(), write("src/a")).Allowed())
}

// D25: how far each scope reaches, and that what is withdrawn is so at once.
func TestScopes(t *testing.T) {
	for _, c := range []struct {
		answer   broker.Answer
		good     []string
		bad      []string
		consumed bool
	}{
		{broker.Answer{Scope: broker.Path}, []string{"src/a", "src/a"}, []string{"src/a/b", "src/b", "lib/a"}, false},
		{broker.Answer{Scope: broker.Subtree}, []string{"src/a", "src/a/b"}, []string{"src/b", "lib/a"}, false},
		{broker.Answer{Scope: broker.Session}, []string{"src/a", "src/b", "lib/a"}, []string{"etc"}, false},
		{broker.Answer{Scope: broker.Until, Until: time.Now().Add(time.Hour)}, []string{"src/a", "src/a"}, []string{"src/b"}, false},
	} {
		w := newWorld(t)
		manager, worker := w.pair()
		r := w.ask(worker, "src/a")
		_, err := w.Approve(t.Context(), manager, r.ID, c.answer)
		require.NoError(t, err)
		may := func(place string) bool {
			call := write(place)
			call.MayBlock = false
			return w.Gate(worker).Check(t.Context(), call).Allowed()
		}
		for _, place := range c.good {
			require.True(t, may(place), "%s %s", c.answer.Scope, place)
		}
		for _, place := range c.bad {
			require.False(t, may(place), "%s %s", c.answer.Scope, place)
		}
		grants, err := w.Grants(t.Context(), manager)
		require.NoError(t, err)
		require.Equal(t, []string{r.ID}, ids(grants))
		_, err = w.Revoke(t.Context(), worker, r.ID)
		refused(t, broker.CodeNotManager, err)
		_, err = w.Revoke(t.Context(), manager, r.ID)
		require.NoError(t, err)
		require.False(t, may("src/a"))
		_, err = w.Revoke(t.Context(), manager, r.ID)
		require.NoError(t, err, "to withdraw it twice is no error")
	}
}

func TestScopesThatMeanNothing(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	r := w.ask(worker, "src/a")
	for _, answer := range []broker.Answer{{Scope: "always"}, {Scope: broker.Until}, {Scope: broker.Once, Until: time.Now().Add(time.Hour)}, {Scope: broker.Path, Until: time.Now().Add(-time.Hour)}} {
		_, err := w.Approve(t.Context(), manager, r.ID, answer)
		refused(t, broker.CodeInvalid, err)
	}
	_, err := w.Approve(t.Context(), manager, r.ID, broker.Answer{})
	require.NoError(t, err)
}

// D17: who waits attaches again by the request's id, after the broker has
// started anew or on another one.
func TestWaitSurvivesARestart(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	r := w.ask(worker, "src/a")
	ctx, cancel := context.WithCancel(t.Context())
	first := background(func() (broker.Request, error) { return w.Wait(ctx, worker, r.ID) })
	w.eventually(func() bool { return len(w.waits()) == 1 })
	cancel()
	require.ErrorIs(t, soon(t, first).err, context.Canceled)
	w.eventually(func() bool { return len(w.waits()) == 0 })
	w.restart()

	other := w.second()
	again := background(func() (broker.Request, error) { return w.Wait(t.Context(), worker, r.ID) })
	elsewhere := background(func() (broker.Request, error) { return other.Wait(t.Context(), worker, r.ID) })
	w.eventually(func() bool { return len(w.waits()) == 2 })
	_, err := w.Approve(t.Context(), manager, r.ID, broker.Answer{Scope: broker.Path})
	require.NoError(t, err)
	for _, ch := range []<-chan result[broker.Request]{again, elsewhere} {
		got := soon(t, ch)
		require.NoError(t, got.err)
		require.Equal(t, broker.Active, got.value.Status)
	}
	w.restart()
	require.True(t, w.Gate(worker).Check(t.Context(), write("src/a")).Allowed(), "leave survives a restart")
}

// waits are the waits that are written down.
func (w *world) waits() (list []broker.Wait) {
	require.NoError(w, w.store.View(w.Context(), func(tx broker.ReadTx) (err error) {
		list, err = tx.Waits(broker.WaitFilter{})
		return err
	}))
	return list
}

// D40: a call that cannot wait leaves a request behind, and succeeds once that
// is approved.
func TestRetryAfterApproval(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	call := write("src/a")
	call.MayBlock = false
	d := w.Gate(worker).Check(t.Context(), call)
	require.Equal(t, pathresolver.RuleAsk, d.Code)
	rows, err := w.Requests(t.Context(), manager)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Contains(t, d.Reason(), rows[0].ID)
	_, err = w.Approve(t.Context(), manager, rows[0].ID, broker.Answer{})
	require.NoError(t, err)
	require.True(t, w.Gate(worker).Check(t.Context(), call).Allowed())
	require.False(t, w.Gate(worker).Check(t.Context(), call).Allowed(), "once")
}

func ids(rows []broker.Request) []string {
	list := []string{}
	for _, r := range rows {
		list = append(list, r.ID)
	}
	return list
}

// A grant for one time is not used up by what is refused for another reason.
func TestOnceIsKeptWhereTheRestIsRefused(t *testing.T) {
	w := newWorld(t)
	manager := w.hire(operator, "boss", managerDoc)
	worker := w.hire(manager, "worker", managerDoc+"defaults: {msg.send: ask}\n")
	out := broker.Outgoing{To: "agent:sibling:main", Content: "x", MayBlock: true}
	sent := background(func() (broker.Receipt, error) { return w.Send(t.Context(), worker, out) })
	w.eventually(func() bool { return len(must(w.Requests(t.Context(), manager))) == 1 })
	r := must(w.Requests(t.Context(), manager))[0]
	must(w.Approve(t.Context(), manager, r.ID, broker.Answer{}))
	require.Contains(t, refused(t, broker.CodeNotFound, soon(t, sent).err), "Session not found")
	require.Equal(t, broker.Approved, must(w.Request(t.Context(), manager, r.ID)).Status)
	w.hire(manager, "sibling", workerDoc)
	require.Equal(t, "agent:sibling:main", must(w.Send(t.Context(), worker, out)).Key)
	require.Equal(t, broker.Consumed, must(w.Request(t.Context(), manager, r.ID)).Status)
}
