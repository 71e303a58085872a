package storetest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// messages: rows come back exactly, in the order in which they were put.
func messages(t *testing.T, open Open) {
	s := opened(t, open)
	full := broker.Message{
		ID: "z", RecipientID: "a", Session: "agent:a:x", SenderID: "b", Type: broker.TypeNotification, Verb: broker.VerbAnswer, Content: "hé\n",
		ReplyTo: "question", Key: "idle 3", Chain: []string{"x", "b"}, CreatedAt: now, DeliveredAt: now.Add(time.Second),
		AckedAt: now.Add(time.Minute),
	}
	empty := message("m", "a")
	empty.Chain = []string{}
	last := message("a", "c")
	update(t, s, func(tx broker.Tx) {
		for _, m := range []*broker.Message{&full, &empty, &last} {
			got, err := tx.InsertMessage(*m)
			require.NoError(t, err)
			m.Seq = got.Seq
			require.Equal(t, *m, got)
		}
	})
	require.Positive(t, full.Seq)
	require.Greater(t, empty.Seq, full.Seq)
	require.Greater(t, last.Seq, empty.Seq)

	for _, tt := range []struct {
		f    broker.MessageFilter
		want []broker.Message
	}{
		{broker.MessageFilter{}, []broker.Message{full, empty, last}},
		{broker.MessageFilter{RecipientID: "a"}, []broker.Message{full, empty}},
		{broker.MessageFilter{SenderID: "b"}, []broker.Message{full}},
		{broker.MessageFilter{ReplyTo: "question"}, []broker.Message{full}},
		{broker.MessageFilter{Undelivered: true}, []broker.Message{empty, last}},
		{broker.MessageFilter{Unacked: true, RecipientID: "a"}, []broker.Message{empty}},
		{broker.MessageFilter{AfterSeq: full.Seq}, []broker.Message{empty, last}},
		{broker.MessageFilter{AfterSeq: full.Seq, Limit: 1}, []broker.Message{empty}},
	} {
		view(t, s, func(tx broker.ReadTx) {
			got, err := tx.Messages(tt.f)
			require.NoError(t, err)
			require.Equal(t, tt.want, got, "%+v", tt.f)
		})
	}
	view(t, s, func(tx broker.ReadTx) {
		n, err := tx.CountMessages(broker.MessageFilter{Limit: 1})
		require.NoError(t, err)
		require.Equal(t, 3, n, "a limit does not count")
		one, err := tx.Message("z")
		require.NoError(t, err)
		require.Equal(t, full, one)
		_, err = tx.Message("none")
		require.ErrorIs(t, err, broker.ErrNotFound)
	})

	// An emptied mailbox brings no sequence back.
	update(t, s, func(tx broker.Tx) {
		n, err := tx.DeleteMessages("c")
		require.NoError(t, err)
		require.Equal(t, 1, n)
		m, err := tx.InsertMessage(message("next", "c"))
		require.NoError(t, err)
		require.Greater(t, m.Seq, last.Seq)
	})
}

// messagesUnique: an event is told once, a question answered once.
func messagesUnique(t *testing.T, open Open) {
	s := opened(t, open)
	first := message("m1", "a")
	first.Key, first.ReplyTo = "exited worker", "question"
	update(t, s, func(tx broker.Tx) {
		_, err := tx.InsertMessage(first)
		require.NoError(t, err)
		for _, change := range []func(*broker.Message){
			func(m *broker.Message) { m.Key = first.Key },
			func(m *broker.Message) { m.ReplyTo = first.ReplyTo },
		} {
			m := message("m2", "b")
			change(&m)
			_, err := tx.InsertMessage(m)
			require.ErrorIs(t, err, broker.ErrExists)
		}
		for _, id := range []string{"m2", "m3"} {
			_, err := tx.InsertMessage(message(id, "b"))
			require.NoError(t, err, "neither key nor question")
		}
	})
	// Of an id that is taken it may be told only when the update is run again.
	var told error
	update(t, s, func(tx broker.Tx) { _, told = tx.InsertMessage(message("m1", "b")) })
	require.ErrorIs(t, told, broker.ErrExists)
	update(t, s, func(tx broker.Tx) {
		_, told = tx.InsertMessage(message("m4", "b"))
		_, told = tx.InsertMessage(message("m4", "b"))
	})
	require.ErrorIs(t, told, broker.ErrExists)
	view(t, s, func(tx broker.ReadTx) {
		n, err := tx.CountMessages(broker.MessageFilter{RecipientID: "b"})
		require.NoError(t, err)
		require.Equal(t, 3, n)
	})
}

// messagesPending: what an update has sent it reads, receives and deletes, and so do
// updates beside it; one that fails has sent nothing.
func messagesPending(t *testing.T, open Open) {
	s := opened(t, open)
	failure := errors.New("it fails")
	const rounds = 20
	var beside sync.WaitGroup
	for i := range rounds {
		id := strconv.Itoa(i)
		beside.Go(func() {
			update(t, s, func(tx broker.Tx) {
				sent, err := tx.InsertMessage(message("kept"+id, "a"+id))
				assert.NoError(t, err)
				got, err := tx.Message("kept" + id)
				assert.NoError(t, err)
				assert.Equal(t, sent, got)
				assert.NoError(t, tx.MarkDelivered("a"+id, []string{"kept" + id}, now))
				_, err = tx.InsertMessage(message("later"+id, "a"+id))
				assert.NoError(t, err)
				n, err := tx.CountMessages(broker.MessageFilter{RecipientID: "a" + id, Undelivered: true})
				assert.NoError(t, err)
				assert.Equal(t, 1, n)
			})
		})
		beside.Go(func() {
			update(t, s, func(tx broker.Tx) {
				_, err := tx.InsertMessage(message("alone"+id, "b"))
				assert.NoError(t, err)
			})
		})
		beside.Go(func() {
			assert.ErrorIs(t, s.Update(t.Context(), func(tx broker.Tx) error {
				if _, err := tx.InsertMessage(message("lost"+id, "b")); err != nil {
					return err
				}
				return failure
			}), failure)
		})
	}
	beside.Wait()
	view(t, s, func(tx broker.ReadTx) {
		all, err := tx.Messages(broker.MessageFilter{RecipientID: "b"})
		require.NoError(t, err)
		require.Len(t, all, rounds)
		for i := range rounds {
			n, err := tx.CountMessages(broker.MessageFilter{RecipientID: "a" + strconv.Itoa(i)})
			require.NoError(t, err)
			require.Equal(t, 2, n)
		}
	})
}

// deliveredOnce: several readers of a mailbox, on two stores, get each message
// once and in order; only what was delivered is acknowledged, and once.
func deliveredOnce(t *testing.T, open Open) {
	const total, readers = 60, 4
	stores := []broker.Store{opened(t, open), opened(t, open)}
	update(t, stores[0], func(tx broker.Tx) {
		for i := range total {
			_, err := tx.InsertMessage(message(id("m%03d", i), "a"))
			require.NoError(t, err)
		}
	})
	var mu sync.Mutex
	got := map[string]int{}
	errs := together(readers, func(i int) error {
		var seq int64
		for {
			var batch []broker.Message
			err := stores[i%2].Update(context.Background(), func(tx broker.Tx) (err error) {
				batch, err = tx.Messages(broker.MessageFilter{RecipientID: "a", Undelivered: true, Limit: 3})
				if err != nil {
					return err
				}
				return tx.MarkDelivered("a", ids(batch), now)
			})
			if err != nil || len(batch) == 0 {
				return err
			}
			mu.Lock()
			for _, m := range batch {
				if m.Seq <= seq {
					err = errors.New("out of order: " + m.ID)
				}
				seq = m.Seq
				got[m.ID]++
			}
			mu.Unlock()
			if err != nil {
				return err
			}
		}
	})
	require.NoError(t, errors.Join(errs...))
	require.Len(t, got, total)
	for id, n := range got {
		require.Equal(t, 1, n, id)
	}

	update(t, stores[0], func(tx broker.Tx) {
		_, err := tx.InsertMessage(message("later", "a"))
		require.NoError(t, err)
		for _, list := range [][]string{{"later", "m001"}, {"later", "none"}} {
			require.ErrorIs(t, tx.MarkDelivered("a", list, now), broker.ErrConflict)
		}
		require.ErrorIs(t, tx.MarkDelivered("b", []string{"later"}, now), broker.ErrConflict, "another's")
		m, err := tx.Message("later")
		require.NoError(t, err)
		require.Zero(t, m.DeliveredAt)

		for want, list := range map[int][]string{0: {"later"}, 2: {"m001", "m002", "m001", "none"}} {
			n, err := tx.MarkAcked("a", list, now)
			require.NoError(t, err)
			require.Equal(t, want, n, list)
		}
		for _, to := range []string{"a", "b"} {
			n, err := tx.MarkAcked(to, []string{"m001", "m002"}, now)
			require.NoError(t, err)
			require.Zero(t, n, "again, and another's")
		}
		require.NoError(t, tx.MarkDelivered("a", []string{"later"}, now), "it succeeds by itself")
		require.NoError(t, tx.MarkDelivered("a", nil, now))
	})
}

// messagesMany: lists of any length are marked as one.
func messagesMany(t *testing.T, open Open) {
	s := opened(t, open)
	for _, n := range []int{1, 2, 63, 64, 65, 200} {
		update(t, s, func(tx broker.Tx) {
			var all []broker.Message
			for i := range n {
				m, err := tx.InsertMessage(message(id(id("n%d", n)+"-%03d", i), id("to %d", n)))
				require.NoError(t, err)
				all = append(all, m)
			}
			list := ids(all)
			slices.Reverse(list)
			require.NoError(t, tx.MarkDelivered(id("to %d", n), list, now))
			acked, err := tx.MarkAcked(id("to %d", n), list, now)
			require.NoError(t, err)
			require.Equal(t, n, acked)
			left, err := tx.CountMessages(broker.MessageFilter{RecipientID: id("to %d", n), Unacked: true})
			require.NoError(t, err)
			require.Zero(t, left)
		})
	}
}

func ids(all []broker.Message) []string {
	var ids []string
	for _, m := range all {
		ids = append(ids, m.ID)
	}
	return ids
}
