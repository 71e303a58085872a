package broker_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/permission"
)

const (
	keep     = 32 << 10    // of one agent, in these tests
	most     = keep / 1024 // records of one kind: none counts for less
	flooding = 150         // calls
)

// keeping is a world on each of the stores in which the broker keeps so much.
func keeping(t *testing.T, bytes int64, do func(w *world)) {
	for name, on := range map[string]func(*testing.T) *world{"sqlite": onSQLite, "postgres": onPostgres} {
		t.Run(name, func(t *testing.T) {
			w := on(t)
			w.keep = bytes
			w.restart()
			do(w)
		})
	}
}

// attempts are all kinds of what an agent can try again and again, by who is the
// agent flooder, whom the operator has hired.
var attempts = map[string]func(w *world, who broker.Identity, i int) error{
	"a write that is refused": func(w *world, who broker.Identity, _ int) error {
		w.Gate(who).Check(w.Context(), write("etc"))
		return nil
	},
	"a write that is allowed": func(w *world, who broker.Identity, _ int) error {
		w.Gate(who).Check(w.Context(), write("docs/a"))
		return nil
	},
	"a question about what is refused": func(w *world, who broker.Identity, _ int) error {
		return second(w.Ask(w.Context(), who, write("etc")))
	},
	"another reason for the same request": func(w *world, who broker.Identity, i int) error {
		c := write("src/a")
		c.Reason = fmt.Sprintf("reason %03d.", i)
		return second(w.Ask(w.Context(), who, c))
	},
	"a message to nobody": func(w *world, who broker.Identity, _ int) error {
		return second(w.Send(w.Context(), who, broker.Outgoing{To: "nonsense"}))
	},
	"an id that it guesses": func(w *world, who broker.Identity, i int) error {
		return second(w.Request(w.Context(), who, fmt.Sprint(i)))
	},
	"an answer that is not its own": func(w *world, who broker.Identity, i int) error {
		return second(w.Approve(w.Context(), who, fmt.Sprint(i), broker.Answer{}))
	},
	"hiring": func(w *world, who broker.Identity, _ int) error {
		_, _, err := w.Hire(w.Context(), who, broker.HireSpec{Policy: policy(w, workerDoc)})
		return err
	},
	"firing": func(w *world, who broker.Identity, _ int) error {
		return second(w.Fire(w.Context(), who, "other"))
	},
	"a look at another": func(w *world, who broker.Identity, _ int) error {
		return second(w.StatusOf(w.Context(), who, "other"))
	},
	"what a view has refused": func(w *world, who broker.Identity, _ int) error {
		return w.Record(w.Context(), who, access.Decision{Effect: access.Deny, Code: permission.CodeInvalidTarget, Access: access.Access{Action: access.FSWrite, Resource: strings.Repeat("x", 5000)}})
	},
	"what a view has refused, in batches": func(w *world, who broker.Identity, _ int) error {
		return second(w.RecordDenials(w.Context(), who, broker.Denials{Items: []broker.Denial{{Action: access.FSWrite, Resource: strings.Repeat("x", 5000)}}}))
	},
	"what a socket has refused": func(w *world, who broker.Identity, _ int) error {
		return w.Refused(w.Context(), who, "connect", "other", &broker.Error{Code: permission.CodeNoIdentity, Message: "a stranger"})
	},
	"what a socket has refused to nobody": func(w *world, _ broker.Identity, _ int) error {
		return w.Refused(w.Context(), broker.Identity{}, "connect", "other", &broker.Error{Code: permission.CodeNoIdentity, Message: "a stranger"})
	},
}

// A flood of attempts leaves a bounded number of records, which say how many have
// none. The chain is whole, and what others do meanwhile is on record. Without the bound
// the same flood leaves a record of each.
func TestFloodIsFolded(t *testing.T) {
	flooded := func(w *world, do func(w *world, who broker.Identity, i int) error) (records, leftOut int64) {
		flooder := w.hire(operator, "flooder", workerDoc)
		other := w.hire(operator, "other", workerDoc)
		before := must(w.Head(w.Context(), operator)).Seq
		flood(flooding, func(i int) error {
			if i%10 == 0 {
				_ = w.Record(w.Context(), other, access.Decision{Effect: access.Deny, Access: access.Access{Action: access.FSWrite, Resource: "etc"}})
			}
			return do(w, flooder, i)
		})
		for _, r := range must(w.Records(w.Context(), operator, broker.RecordFilter{AfterSeq: before})) {
			if r.Principal != "other" {
				records++
			}
		}
		require.Len(w, must(w.Records(w.Context(), operator, broker.RecordFilter{AfterSeq: before, Principal: "other"})), flooding/10)
		for _, u := range must(w.LeftOut(w.Context(), operator)) {
			require.Equal(w, strings.Contains(u.String(), "no agent"), u.Owner == "")
			leftOut += u.LeftOut
		}
		must(w.Verify(w.Context(), operator, broker.Head{}))
		return records, leftOut
	}
	for name, do := range attempts {
		t.Run(name, func(t *testing.T) {
			keeping(t, keep, func(w *world) {
				records, leftOut := flooded(w, do)
				require.LessOrEqual(w, records, int64(most+8), "and one each time that those left out have doubled")
				require.Greater(w, leftOut, int64(flooding-most-2))

				require.NoError(w, w.Exited(w.Context(), "flooder", broker.Exit{}))
				told := must(w.Records(w.Context(), operator, broker.RecordFilter{Action: "left_out", Last: true, Limit: 1}))
				require.Len(w, told, 1)
				if told[0].Principal == "flooder" {
					require.Contains(w, told[0].Reason, fmt.Sprintf("%d ", leftOut), "all are told when it ends")
				}
				must(w.Verify(w.Context(), operator, broker.Head{}))
			})
			w := onSQLite(t)
			records, leftOut := flooded(w, do)
			require.GreaterOrEqual(t, records, int64(flooding), "the control")
			require.Zero(t, leftOut)
		})
	}
}

// What an agent makes the broker keep in rows ends at its bound: requests that were
// answered, messages that were read, agents that were fired. What takes its power away
// works on, and is recorded.
func TestRowsAreBounded(t *testing.T) {
	keeping(t, keep, func(w *world) {
		boss := w.hire(operator, "boss", managerDoc)
		worker, other := w.hire(boss, "worker", workerDoc), w.hire(operator, "other", managerDoc)
		pending := w.ask(worker, "src/pending")

		asked := untilRefused(w, func(i int) error {
			r, err := w.Ask(w.Context(), worker, write(fmt.Sprintf("src/%d", i)))
			if err == nil {
				must(w.Deny(w.Context(), boss, r.ID, ""))
			}
			return err
		})
		require.InDelta(w, keep/(5<<10), asked, 2)
		sent := untilRefused(w, func(int) error {
			_, err := w.Send(w.Context(), other, broker.Outgoing{To: "agent:boss:main", Content: strings.Repeat("x", 1<<10)})
			for _, m := range must(w.Receive(w.Context(), boss, false)) {
				must(w.Ack(w.Context(), boss, m.ID))
			}
			return err
		})
		require.InDelta(w, keep/(2<<10), sent, 2)
		hired := untilRefused(w, func(i int) error {
			id := fmt.Sprint("child", i)
			_, _, err := w.Hire(w.Context(), boss, broker.HireSpec{ID: id, Policy: policy(w, workerDoc), OnExcess: permission.Clamp})
			if err == nil {
				must(w.Fire(w.Context(), boss, id))
			}
			return err
		})
		require.Positive(w, hired)
		require.LessOrEqual(w, hired, keep/(8<<10))
		_, err := w.Interrupt(w.Context(), operator, "boss")
		require.NoError(w, err, "the operator has no bound")

		must(w.Approve(w.Context(), boss, pending.ID, broker.Answer{}))
		must(w.Fire(w.Context(), boss, "worker"))
		last := must(w.Records(w.Context(), operator, broker.RecordFilter{Principal: "boss"}))
		var did []string
		for _, r := range last[len(last)-4:] {
			did = append(did, r.Action)
		}
		require.Contains(w, did, "approve")
		require.Contains(w, did, "fire")
		must(w.Verify(w.Context(), operator, broker.Head{}))
	})
	w := onSQLite(t)
	other, boss := w.hire(operator, "other", managerDoc), w.hire(operator, "boss", managerDoc)
	for range 2 * most {
		must(w.Send(t.Context(), other, broker.Outgoing{To: "agent:boss:main", Content: strings.Repeat("x", 1<<10)}))
	}
	require.NotEmpty(t, must(w.Receive(t.Context(), boss, false)), "the control")
}

// Who writes to an agent that has exited pays for its start, once for each: not for further
// messages that lie there when it is started, nor for one that wakes nobody.
func TestStartIsPaidOnce(t *testing.T) {
	keeping(t, 24<<10, func(w *world) {
		other := w.hire(operator, "other", managerDoc)
		must2(w.Hire(w.Context(), operator, broker.HireSpec{ID: "back", Policy: policy(w, workerDoc), Cwd: "/project", Resume: []string{"again"}}))
		exit := func() {
			require.NoError(w, w.Started(w.Context(), "back", "a process", ""))
			require.NoError(w, w.Exited(w.Context(), "back", broker.Exit{}))
		}
		used := int64(0)
		costs := func(kib int64, verb broker.Verb) {
			w.Helper()
			must(w.Send(w.Context(), other, broker.Outgoing{To: "agent:back:main", Verb: verb}))
			var now int64
			require.NoError(w, w.store.View(w.Context(), func(tx broker.ReadTx) error {
				u, err := tx.Usage("other", broker.UsageRows)
				now = u.Bytes
				return err
			}))
			require.Equal(w, kib<<10, now-used)
			used = now
		}
		exit()
		costs(1, broker.VerbContextualize)
		costs(1+8, broker.VerbExecute)
		costs(1, broker.VerbSend)
		exit() // it has read nothing, and a further message starts it once more
		costs(1+8, broker.VerbSend)
		costs(1, broker.VerbExecute)
		require.NoError(w, w.Started(w.Context(), "back", "a process", ""))
		costs(1, broker.VerbSend)
		require.Equal(w, 2, untilRefused(w, func(int) error {
			return second(w.Send(w.Context(), other, broker.Outgoing{To: "agent:back:main"}))
		}), "the bound holds")
	})
}

// untilRefused does something until there is no more room, and says how often it was
// done.
func untilRefused(w *world, do func(i int) error) int {
	for i := range 20 * most {
		if err := do(i); err != nil {
			require.Contains(w, refused(w, broker.CodeTooMany, err), "the broker keeps")
			return i
		}
	}
	w.Fatal("there is no bound")
	return 0
}

// Agents that hire others have no more room for it than ten times one agent's, and leave
// that of the operator's other agents alone.
func TestTreeIsBounded(t *testing.T) {
	keeping(t, keep/4, func(w *world) {
		w.hire(operator, "boss", managerDoc)
		before := must(w.Head(w.Context(), operator)).Seq
		other := w.hire(operator, "other", managerDoc)
		for i := range 20 {
			id := fmt.Sprint("child", i)
			_, _, err := w.Hire(w.Context(), operator, broker.HireSpec{ID: id, ParentID: "boss", Policy: policy(w, workerDoc), OnExcess: permission.Clamp})
			require.NoError(w, err)
			flood(20, func(int) error {
				return second(w.Send(w.Context(), broker.AgentIdentity(id), broker.Outgoing{To: "nonsense"}))
			})
		}
		attempts := 0
		for _, r := range must(w.Records(w.Context(), operator, broker.RecordFilter{AfterSeq: before})) {
			if r.Code == permission.CodeInvalidTarget {
				attempts++
			}
		}
		require.LessOrEqual(w, attempts, 10*most/4)
		require.Greater(w, attempts, 7*most/4)
		all := int64(attempts)
		for _, u := range must(w.LeftOut(w.Context(), operator)) {
			all += u.LeftOut
		}
		require.Equal(w, int64(20*20), all, "each is recorded or counted")
		require.Contains(w, w.send(other, "nonsense"), "Invalid target")
		require.Equal(w, "other", must(w.Records(w.Context(), operator, broker.RecordFilter{Last: true, Limit: 1}))[0].Principal)

		must(w.Fire(w.Context(), operator, "boss"))
		told := must(w.Records(w.Context(), operator, broker.RecordFilter{Principal: "boss", Action: "left_out"}))
		require.Contains(w, told[len(told)-1].Reason, "'boss' and the agents beneath it")
		must(w.Verify(w.Context(), operator, broker.Head{}))
	})
}

// What is refused for its rate is counted with the agent's next record, when it ends,
// or when the broker does.
func TestRefusedByRateIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := onSQLite(t)
		_, worker := w.pair()
		other := w.hire(operator, "other", workerDoc)
		nonsense := func(who broker.Identity) int {
			codes := flood(700, func(int) error {
				return second(w.Send(t.Context(), who, broker.Outgoing{To: "nonsense"}))
			})
			return codes[broker.CodeRateLimited]
		}
		leftOut := func() map[string]int {
			counts := map[string]int{}
			for _, u := range must(w.LeftOut(t.Context(), operator)) {
				counts[u.Owner] = int(u.LeftOut)
			}
			return counts
		}
		of, ofOther := nonsense(worker), nonsense(other)
		require.Greater(t, of, 90)
		require.NoError(t, w.Exited(t.Context(), "worker", broker.Exit{}))
		require.Equal(t, of, leftOut()["worker"])
		w.restart()
		require.Equal(t, map[string]int{"worker": of, "other": ofOther}, leftOut())
		must(w.Verify(t.Context(), operator, broker.Head{}))
	})
}

// A database from before there was a bound, when the operator had another name, is brought
// up to date: what it holds stays, and counts begin.
func TestBoundOfAnOlderDatabase(t *testing.T) {
	keeping(t, keep, func(w *world) {
		_, worker := w.pair()
		must(w.Send(w.Context(), worker, broker.Outgoing{To: "agent:boss:main"}))
		before := must(w.Head(w.Context(), operator))
		w.halt()
		w.tamper(`DROP TABLE usages; DELETE FROM schema_version WHERE version >= 2;
			UPDATE messages SET recipient_id = 'operator', sender_id = 'operator';
			ALTER TABLE messages DROP COLUMN session; ALTER TABLE agents DROP COLUMN sessions;
			ALTER TABLE agents DROP COLUMN launch; DROP INDEX agents_until; ALTER TABLE agents DROP COLUMN until;
			DELETE FROM counters WHERE name = 'commit'; ALTER TABLE agents RENAME COLUMN turns TO turn;
			DROP INDEX agents_ended; DROP INDEX agents_parent; DROP INDEX agents_state; DROP INDEX agents_process; DROP INDEX agents_resume;
			CREATE INDEX agents_parent ON agents (parent_id, id); ALTER TABLE agents DROP COLUMN archived`)
		w.start()
		must(w.Verify(w.Context(), operator, before))
		old := must(w.Receive(w.Context(), operator, false))
		require.Len(w, old, 1, "the operator is called root")
		require.Equal(w, "root", old[0].SenderID)
		flood(flooding, func(int) error {
			return second(w.Send(w.Context(), worker, broker.Outgoing{To: "nonsense"}))
		})
		require.Len(w, must(w.LeftOut(w.Context(), operator)), 1)
		require.LessOrEqual(w, must(w.Verify(w.Context(), operator, before)).Seq, before.Seq+most+8)
	})
}
