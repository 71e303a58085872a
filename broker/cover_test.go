package broker_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

// waiting is calls that wait for an answer, each with its request.
type waiting struct {
	calls  map[string]access.Request
	ids    map[string]string
	answer map[string]<-chan result[access.Decision]
}

// wait has the agent make the calls, and returns when each of them waits.
func (w *world) wait(who broker.Identity, calls map[string]access.Request) waiting {
	w.Helper()
	s := waiting{calls, map[string]string{}, map[string]<-chan result[access.Decision]{}}
	for name, c := range calls {
		s.ids[name] = must(w.Ask(w.Context(), who, c)).ID
		s.answer[name] = background(func() (access.Decision, error) { return w.Gate(who).Check(w.Context(), c), nil })
	}
	w.eventually(func() bool { return len(w.waits()) == len(calls) })
	return s
}

// wins are the records of answers to a request that stand.
func (w *world) wins(id string) (list []broker.Record) {
	w.Helper()
	for _, rec := range must(w.Records(w.Context(), operator, broker.RecordFilter{Last: true, Limit: 1000})) {
		if rec.RequestID == id && (rec.Action == "approve" && rec.Effect == access.Allow || rec.Action == "deny" && rec.Code == access.Code(broker.Denied)) {
			list = append(list, rec)
		}
	}
	return list
}

// D25: a grant answers, with its own request, every other one that the agent
// would not have to ask for any more: those and no others, each once.
func TestGrantAnswersWhatItCovers(t *testing.T) {
	for _, c := range []struct {
		answer  broker.Answer
		covered []string
	}{
		{broker.Answer{Scope: broker.Once}, nil},
		{broker.Answer{Scope: broker.Path}, []string{"other content", "create"}},
		{broker.Answer{Scope: broker.Until, Until: time.Now().Add(time.Hour)}, []string{"other content", "create"}},
		{broker.Answer{Scope: broker.Subtree}, []string{"other content", "create", "beneath"}},
		{broker.Answer{Scope: broker.Session}, []string{"other content", "create", "beneath", "elsewhere"}},
	} {
		t.Run(string(c.answer.Scope), func(t *testing.T) {
			w := newWorld(t)
			// Its manager may not write lib itself, so no grant of its reaches there.
			root := w.hire(operator, "boss", managerDoc)
			manager := w.hire(root, "manager", managerDoc+"fs: {ask_write: [lib]}\n")
			worker := w.hire(manager, "worker", workerDoc+"tools: {deploy: {requires_confirmation: true}, build: {}}\n")
			sibling := w.hire(manager, "sibling", workerDoc)
			other, create, remove, both := write("src/a"), write("src/a"), write("src/a"), write("src/a")
			other.Input = []byte(`{"path": "src/a", "content": "x"}`)
			create.Action = access.FSCreate
			remove.Action = access.FSDelete
			both.Also = []access.Access{{Action: access.FSWrite, Resource: "lib/a"}}
			tool := access.Request{Action: access.ToolUse, Resource: "deploy", Tool: "deploy", MayBlock: true}
			confirm := access.Request{Action: access.ToolUse, Resource: "build", Tool: "build", Confirm: true, MayBlock: true}
			s := w.wait(worker, map[string]access.Request{
				"other content": other, "create": create, "beneath": write("src/a/b"), "elsewhere": write("src/b"),
				"delete": remove, "manager may not": write("lib/a"), "one of two": both, "tool": tool, "to be confirmed": confirm,
			})
			of := w.ask(sibling, "src/a")

			grant := must(w.Approve(t.Context(), manager, w.ask(worker, "src/a").ID, c.answer))
			left := map[string]string{"sibling": of.ID}
			for name, id := range s.ids {
				left[name] = id
			}
			for _, name := range c.covered {
				d := soon(t, s.answer[name]).value
				require.True(t, d.Allowed(), "%s: %s", name, d.Text())
				require.Equal(t, "grant:"+grant.ID, d.Rule)
				r := must(w.Request(t.Context(), worker, s.ids[name]))
				require.Equal(t, broker.Consumed, r.Status)
				require.Equal(t, "manager", r.Resolver)
				require.Equal(t, []any{grant.Scope, grant.Until}, []any{r.Scope, r.Until}, "its agent is told")
				require.Equal(t, grant.ResolvedAt, r.ResolvedAt, "in the same transaction")
				wins := w.wins(r.ID)
				require.Len(t, wins, 1)
				require.Equal(t, "grant:"+grant.ID, wins[0].Rule)
				require.Contains(t, wins[0].Reason, grant.ID)
				_, err := w.Deny(t.Context(), manager, r.ID, "")
				refused(t, broker.CodeResolved, err)
				delete(left, name)
			}
			var pending []string
			for _, r := range must(w.Requests(t.Context(), manager)) {
				pending = append(pending, r.ID)
			}
			var want []string
			for _, id := range left {
				want = append(want, id)
			}
			require.ElementsMatch(t, want, pending)
			for name, call := range s.calls {
				_, stays := left[name]
				require.Equal(t, stays, w.Gate(worker).Decide(t.Context(), call).Effect == access.Ask, "%s: as if it were asked now", name)
			}

			// No leave is left behind that the grant's end would not end.
			if grant.Status == broker.Active {
				require.Equal(t, []string{grant.ID}, ids(must(w.Grants(t.Context(), worker))))
				must(w.Revoke(t.Context(), manager, grant.ID))
			}
			for _, name := range c.covered {
				require.False(t, w.Gate(worker).Decide(t.Context(), s.calls[name]).Allowed(), name)
			}
			must(w.Interrupt(t.Context(), manager, "worker"))
			for name := range left {
				if name != "sibling" {
					require.Equal(t, access.Code("interrupted"), soon(t, s.answer[name]).value.Code, name)
				}
			}
			must(w.Verify(t.Context(), operator, broker.Head{}))
		})
	}
}

// D22: what a grant covers is answered once, also where it is denied at the same
// time, on another broker.
func TestCoveredOrDenied(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	other := w.second()
	for range 10 {
		first, asked := w.ask(worker, "src/a"), []string{}
		for _, place := range []string{"src/b", "src/c", "src/d", "src/e"} {
			asked = append(asked, w.ask(worker, place).ID)
		}
		denied := make([]error, len(asked))
		var all sync.WaitGroup
		var err error
		all.Go(func() {
			_, err = w.Approve(context.Background(), manager, first.ID, broker.Answer{Scope: broker.Session})
		})
		for i, id := range asked {
			all.Go(func() { _, denied[i] = other.Deny(context.Background(), manager, id, "no") })
		}
		all.Wait()
		require.NoError(t, err)
		for i, id := range asked {
			r := must(w.Request(t.Context(), worker, id))
			if denied[i] == nil {
				require.Equal(t, broker.Denied, r.Status)
			} else {
				refused(t, broker.CodeResolved, denied[i])
				require.Equal(t, broker.Consumed, r.Status)
			}
			require.Len(t, w.wins(id), 1)
		}
		must(w.Revoke(t.Context(), manager, first.ID))
	}
}

// D16: a request whose time is over has expired, and no grant answers it.
func TestNoGrantAnswersWhatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := onSQLite(t)
		manager := w.hire(operator, "boss", managerDoc)
		worker := w.hire(manager, "worker", workerDoc+"approvals: {max_wait: 1m}\n")
		late := w.ask(worker, "src/a")
		time.Sleep(time.Minute)
		must(w.Approve(t.Context(), manager, w.ask(worker, "src/b").ID, broker.Answer{Scope: broker.Session}))
		require.Equal(t, broker.Expired, must(w.Request(t.Context(), worker, late.ID)).Status)
		require.Empty(t, w.wins(late.ID))
	})
}

// What the broker itself does for an agent waits as any other call does.
func TestGrantAnswersSends(t *testing.T) {
	w := newWorld(t)
	manager := w.hire(operator, "boss", managerDoc)
	worker := w.hire(manager, "worker", managerDoc+"defaults: {msg.send: ask}\n")
	w.hire(manager, "sibling", workerDoc)
	send := func(text string) <-chan result[broker.Receipt] {
		return background(func() (broker.Receipt, error) {
			return w.Send(t.Context(), worker, broker.Outgoing{To: "agent:sibling:main", Content: text, MayBlock: true})
		})
	}
	one, two := send("one"), send("two")
	w.eventually(func() bool { return len(w.waits()) == 2 })
	rows := must(w.Requests(t.Context(), manager))
	require.Len(t, rows, 2)
	must(w.Approve(t.Context(), manager, rows[1].ID, broker.Answer{Scope: broker.Path}))
	got := []error{soon(t, one).err, soon(t, two).err}
	require.NoError(t, errors.Join(got...))
	require.Empty(t, must(w.Requests(t.Context(), manager)))
}
