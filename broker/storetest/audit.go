package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

// hash is over what a test puts into a record.
func hash(r broker.Record) broker.Hash {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %q %q", r.Seq, r.Prev, r.Action, r.Resource))
	return broker.Hash(hex.EncodeToString(sum[:]))
}

// chain reads the records and verifies them.
func chain(t testing.TB, tx broker.ReadTx) []broker.Record {
	t.Helper()
	all, err := tx.Records(broker.RecordFilter{})
	require.NoError(t, err)
	var head broker.Head
	for _, r := range all {
		require.Equal(t, head.Seq+1, r.Seq)
		require.Equal(t, head.Hash, r.Prev)
		require.Equal(t, hash(r), r.Hash)
		head = broker.Head{Seq: r.Seq, Hash: r.Hash}
	}
	end, err := tx.Head()
	require.NoError(t, err)
	require.Equal(t, head, end)
	return all
}

// audit: records come back exactly, and only the next one follows.
func audit(t *testing.T, open Open) {
	s := opened(t, open)
	full := broker.Record{
		Seq: 1, Hash: "h1", Time: now, Principal: "worker", Action: "fs.write", Resource: "src/a", Tool: "edit_file",
		Effect: access.Deny, Code: broker.CodeDenied, Reason: "no", Rule: "fs.ask_write[0]", PolicyHash: "p", RequestID: "r",
	}
	second := broker.Record{Seq: 2, Prev: "h1", Hash: "h2", Time: now.Add(time.Minute), Action: "hire"}
	third := broker.Record{Seq: 3, Prev: "h2", Hash: "h3", Time: now.Add(time.Hour), Principal: "worker", Action: "fs.write", Effect: access.Allow}
	update(t, s, func(tx broker.Tx) {
		head, err := tx.Head()
		require.NoError(t, err)
		require.Zero(t, head)
		for _, tt := range []struct {
			records []broker.Record
			head    broker.Head
		}{
			{[]broker.Record{second}, broker.Head{Seq: 2, Hash: "h2"}},             // no first
			{[]broker.Record{full}, broker.Head{Seq: 1, Hash: "other"}},            // the head is another's
			{[]broker.Record{full, third}, broker.Head{Seq: 3, Hash: "h3"}},        // a gap
			{[]broker.Record{full, full}, broker.Head{Seq: 1, Hash: "h1"}},         // the same again
			{[]broker.Record{full, second}, broker.Head{Seq: 1, Hash: "h1"}},       // the head stays behind
			{[]broker.Record{full}, broker.Head{}},                                 // no head
			{[]broker.Record{{Seq: 1, Prev: "x"}}, broker.Head{Seq: 1}},            // it follows something else
			{nil, broker.Head{Seq: 1, Hash: "h1"}},                                 // a head alone
			{[]broker.Record{second, full}, broker.Head{Seq: 1, Hash: "h1"}},       // in disorder
			{[]broker.Record{{Seq: 0, Hash: "h"}}, broker.Head{Hash: "h"}},         // before the first
			{[]broker.Record{full}, broker.Head{Seq: 2, Hash: full.Hash}},          // a head that is ahead
			{[]broker.Record{{Seq: -1, Hash: "h"}}, broker.Head{Seq: -1}},          // nonsense
			{[]broker.Record{full, full, second}, broker.Head{Seq: 2, Hash: "h2"}}, // twice
		} {
			require.ErrorIs(t, tx.Append(tt.records, tt.head), broker.ErrConflict, "%+v", tt)
		}
		require.NoError(t, tx.Append([]broker.Record{full, second}, broker.Head{Seq: 2, Hash: "h2"}))
	})
	update(t, s, func(tx broker.Tx) {
		require.ErrorIs(t, tx.Append([]broker.Record{second}, broker.Head{Seq: 2, Hash: "h2"}), broker.ErrConflict)
		require.NoError(t, tx.Append([]broker.Record{third}, broker.Head{Seq: 3, Hash: "h3"}))
	})
	for _, tt := range []struct {
		f    broker.RecordFilter
		want []broker.Record
	}{
		{broker.RecordFilter{}, []broker.Record{full, second, third}},
		{broker.RecordFilter{Principal: "worker"}, []broker.Record{full, third}},
		{broker.RecordFilter{Action: "hire"}, []broker.Record{second}},
		{broker.RecordFilter{Effect: "deny"}, []broker.Record{full}},
		{broker.RecordFilter{Since: second.Time}, []broker.Record{second, third}},
		{broker.RecordFilter{AfterSeq: 1, Limit: 1}, []broker.Record{second}},
		{broker.RecordFilter{Last: true, Limit: 2}, []broker.Record{second, third}},
		{broker.RecordFilter{Last: true}, []broker.Record{full, second, third}},
		{broker.RecordFilter{Last: true, Limit: 1, Principal: "worker"}, []broker.Record{third}},
	} {
		view(t, s, func(tx broker.ReadTx) {
			got, err := tx.Records(tt.f)
			require.NoError(t, err)
			require.Equal(t, tt.want, got, "%+v", tt.f)
		})
	}
	view(t, s, func(tx broker.ReadTx) {
		head, err := tx.Head()
		require.NoError(t, err)
		require.Equal(t, broker.Head{Seq: 3, Hash: "h3"}, head)
	})
}

// auditAtomic: a decision and its record are there both or neither, whoever
// writes at the same time, on two stores.
func auditAtomic(t *testing.T, open Open) {
	const each, writers = 12, 8
	stores := []broker.Store{opened(t, open), opened(t, open)}
	refused := errors.New("refused")
	errs := together(writers, func(i int) error {
		for n := range each {
			name := id(id("w%d", i)+"-%02d", n)
			err := stores[i%2].Update(context.Background(), func(tx broker.Tx) error {
				if err := tx.InsertAgent(agent(name)); err != nil {
					return err
				}
				if err := appended(tx, "hire", name); err != nil {
					return err
				}
				if n%3 == 2 {
					return refused
				}
				return nil
			})
			if n%3 == 2 {
				if !errors.Is(err, refused) {
					return fmt.Errorf("not the function's own error: %w", err)
				}
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, errors.Join(errs...))
	view(t, stores[0], func(tx broker.ReadTx) {
		all, err := tx.Agents(broker.AgentFilter{})
		require.NoError(t, err)
		require.Len(t, all, writers*each*2/3)
		recorded := map[string]bool{}
		for _, r := range chain(t, tx) {
			recorded[r.Resource] = true
		}
		require.Len(t, recorded, len(all))
		for _, a := range all {
			require.True(t, recorded[a.ID], a.ID)
		}
	})
}
