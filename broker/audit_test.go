package broker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/permission"
)

// A1: every decision but a plain allowed read, and every message attempt.
func TestWhatIsRecorded(t *testing.T) {
	w := newWorld(t)
	manager, worker := w.pair()
	count := func() int64 { return must(w.Head(t.Context(), operator)).Seq }
	last := func() broker.Record {
		list := must(w.Records(t.Context(), operator, broker.RecordFilter{Last: true, Limit: 1}))
		require.Len(t, list, 1)
		return list[0]
	}
	gate := w.Gate(worker)
	before := count()
	require.True(t, gate.Check(t.Context(), access.Request{Action: access.FSRead, Resource: "a"}).Allowed())
	require.Equal(t, before, count())

	require.True(t, gate.Check(t.Context(), write("docs/a")).Allowed())
	require.Equal(t, before+1, count())
	r := last()
	require.Equal(t, []any{"worker", "fs.write", "docs/a", access.Allow, "p:fs.write[0]"}, []any{r.Principal, r.Action, r.Resource, r.Effect, r.Rule})
	require.Equal(t, must(w.Agent(t.Context(), operator, "worker")).PolicyHash, r.PolicyHash)

	require.False(t, gate.Check(t.Context(), write("etc")).Allowed())
	require.Equal(t, access.Deny, last().Effect)
	w.send(worker, "agent:boss:main")
	require.Equal(t, "msg.send", last().Action)
	require.Equal(t, access.Allow, last().Effect)
	before = count()
	w.send(worker, "agent:other:main")
	require.Equal(t, access.Deny, last().Effect)
	require.NotEmpty(t, last().Rule)
	_, err := w.Ask(t.Context(), worker, write("etc"))
	require.Error(t, err)
	require.NotEmpty(t, last().Rule)
	_, err = w.Fire(t.Context(), worker, "boss")
	require.Error(t, err)
	require.NotEmpty(t, last().Rule)
	require.Equal(t, before+3, count(), "each once")
	w.send(worker, "nonsense")
	require.Equal(t, permission.CodeInvalidTarget, last().Code)
	pending := w.ask(worker, "src/a")
	require.Equal(t, pending.ID, last().RequestID)
	_, err = w.Approve(t.Context(), worker, pending.ID, broker.Answer{})
	require.Error(t, err)
	require.Equal(t, broker.CodeNotManager, last().Code)
	must(w.Approve(t.Context(), manager, pending.ID, broker.Answer{}))
	require.Equal(t, "approve", last().Action)
	require.True(t, gate.Check(t.Context(), write("src/a")).Allowed())
	require.Equal(t, pending.ID, last().RequestID)
	_, err = w.Records(t.Context(), worker, broker.RecordFilter{})
	refused(t, broker.CodeOperatorOnly, err)
	require.NoError(t, w.Record(t.Context(), worker, policy(t, workerDoc).Check(t.Context(), access.Request{Action: access.FSWrite, Resource: "x"})))
	require.Equal(t, "x", last().Resource)
	require.Equal(t, "worker", last().Principal)
	must(w.Verify(t.Context(), operator, broker.Head{}))

	all := must(broker.New(t.Context(), broker.Options{Store: w.store, RecordReads: true}))
	defer all.Close()
	require.True(t, all.Gate(worker).Check(t.Context(), access.Request{Action: access.FSRead, Resource: "on request"}).Allowed())
	require.Equal(t, "on request", last().Resource)
}

// A2: what was done to the records is found, each in its own words; without it
// the same audit verifies.
func TestTampering(t *testing.T) {
	for _, c := range []struct {
		name, do string
		seq      int64
		text     string
	}{
		{"changed", `UPDATE records SET reason = 'another' WHERE seq = 5`, 5, "audit record 5 was changed: its content does not have its hash"},
		{"removed", `DELETE FROM records WHERE seq = 5`, 5, "audit record 5 was removed: 6 follows 4"},
		{"removed and renumbered", `DELETE FROM records WHERE seq = 5; UPDATE records SET seq = seq - 1 WHERE seq > 5`, 5, "audit record 5 follows a record that was removed, and the numbers after it were changed"},
		{"reordered", `UPDATE records SET seq = -5 WHERE seq = 5; UPDATE records SET seq = 5 WHERE seq = 6; UPDATE records SET seq = 6 WHERE seq = -5`, 5, "audit record 5 was reordered: it was written after another record than the one before it"},
		{"truncated", `DELETE FROM records WHERE seq > 7`, 8, "audit record 8 and all after it were cut off: the audit had 13"},
		{"all gone", `DELETE FROM records`, 1, "audit record 1 and all after it were cut off: the audit had 13"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			_, worker := w.pair()
			for range 10 {
				w.send(worker, "nonsense")
			}
			require.Equal(t, int64(13), must(w.Verify(t.Context(), operator, broker.Head{})).Seq)
			w.tamper(c.do)
			_, err := w.Verify(t.Context(), operator, broker.Head{})
			var e *broker.TamperedError
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.seq, e.Seq)
			require.Equal(t, c.text, err.Error())
		})
	}
}

// A2: a head that was kept elsewhere shows what the database alone cannot: an
// audit that was cut off together with its head, or written anew.
func TestKeptHead(t *testing.T) {
	w := newWorld(t)
	_, worker := w.pair()
	for range 3 {
		w.send(worker, "nonsense")
	}
	kept := must(w.Head(t.Context(), operator))
	w.send(worker, "nonsense")
	must(w.Verify(t.Context(), operator, kept))

	before := must(w.Records(t.Context(), operator, broker.RecordFilter{AfterSeq: 2, Limit: 1}))[0]
	w.tamper(`DELETE FROM records WHERE seq > 3; UPDATE head SET seq = 3, hash = '` + string(before.Hash) + `'`)
	must(w.Verify(t.Context(), operator, broker.Head{}))
	_, err := w.Verify(t.Context(), operator, kept)
	require.ErrorContains(t, err, "audit record 4 and all after it were cut off: the audit had 6 when its head was kept")
	for range 5 {
		w.send(worker, "other nonsense")
	}
	_, err = w.Verify(t.Context(), operator, kept)
	require.ErrorContains(t, err, "was written anew")
	_, err = w.Verify(t.Context(), worker, broker.Head{})
	refused(t, broker.CodeOperatorOnly, err)
}
