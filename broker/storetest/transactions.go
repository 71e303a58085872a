package storetest

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// allOrNothing: what a failed update did is undone, and its error comes back as
// it is; without the failure the same is kept.
func allOrNothing(t *testing.T, open Open) {
	s := opened(t, open)
	mine := errors.New("mine")
	everything := func(tx broker.Tx) {
		require.NoError(t, tx.InsertAgent(agent("a")))
		require.NoError(t, tx.InsertRequest(request("r", "a")))
		_, err := tx.InsertMessage(message("m", "a"))
		require.NoError(t, err)
		require.NoError(t, tx.PutPolicy("hash", []byte("p")))
		require.NoError(t, appended(tx, "hire", "a"))
		require.NoError(t, tx.InsertWait(broker.Wait{For: "r", AgentID: "a", BrokerID: "b"}))
		require.NoError(t, tx.PutBroker("b", now))
		require.NoError(t, tx.SetRate("k", now))
		require.NoError(t, tx.PutUsage(broker.Usage{Owner: "a", Kind: broker.UsageRefused, LeftOut: 1}))
	}
	there := func(tx broker.ReadTx) (n int) {
		agents, err := tx.Agents(broker.AgentFilter{})
		require.NoError(t, err)
		requests, err := tx.Requests(broker.RequestFilter{})
		require.NoError(t, err)
		messages, err := tx.Messages(broker.MessageFilter{})
		require.NoError(t, err)
		waits, err := tx.Waits(broker.WaitFilter{})
		require.NoError(t, err)
		brokers, err := tx.Brokers()
		require.NoError(t, err)
		n = len(agents) + len(requests) + len(messages) + len(waits) + len(brokers) + len(chain(t, tx))
		if _, err := tx.Policy("hash"); err == nil {
			n++
		}
		if at, err := tx.Rate("k"); err == nil && !at.IsZero() {
			n++
		}
		left, err := tx.LeftOut()
		require.NoError(t, err)
		return n + len(left)
	}
	err := s.Update(t.Context(), func(tx broker.Tx) error {
		everything(tx)
		require.Equal(t, 9, there(tx), "it sees its own changes")
		return mine
	})
	require.Same(t, mine, err)
	view(t, s, func(tx broker.ReadTx) { require.Zero(t, there(tx)) })

	update(t, s, everything)
	view(t, s, func(tx broker.ReadTx) { require.Equal(t, 9, there(tx)) })
}

// goesOn: a transaction that was told ErrExists, ErrConflict or ErrNotFound
// keeps what it did before and does more.
func goesOn(t *testing.T, open Open) {
	s := opened(t, open)
	update(t, s, func(tx broker.Tx) {
		require.NoError(t, tx.InsertAgent(agent("a")))
		require.ErrorIs(t, tx.InsertAgent(agent("a")), broker.ErrExists)
		require.ErrorIs(t, tx.UpdateAgent(agent("a"), broker.Fired), broker.ErrConflict)
		require.ErrorIs(t, tx.UpdateAgent(agent("b"), broker.Fired), broker.ErrNotFound)
		require.ErrorIs(t, tx.UpdateRequest(request("r", "a"), broker.Pending), broker.ErrNotFound)
		require.ErrorIs(t, tx.MarkDelivered("a", []string{"m"}, now), broker.ErrConflict)
		require.ErrorIs(t, tx.Append(nil, broker.Head{Seq: 9}), broker.ErrConflict)
		require.NoError(t, tx.InsertAgent(agent("b")))
	})
	view(t, s, func(tx broker.ReadTx) {
		all, err := tx.Agents(broker.AgentFilter{})
		require.NoError(t, err)
		require.Len(t, all, 2)
	})
}

// serial: a number that is read, and written one higher, misses no step,
// whoever counts at the same time, on two stores; and some fail in between.
func serial(t *testing.T, open Open) {
	const counters, each = 8, 25
	stores := []broker.Store{opened(t, open), opened(t, open)}
	update(t, stores[0], func(tx broker.Tx) { require.NoError(t, tx.InsertAgent(agent("counter"))) })
	no := errors.New("no")
	errs := together(counters, func(i int) error {
		for n := range each {
			err := stores[i%2].Update(context.Background(), func(tx broker.Tx) error {
				a, err := tx.Agent("counter")
				if err != nil {
					return err
				}
				a.Turn++
				if err := tx.UpdateAgent(a, broker.Working); err != nil {
					return err
				}
				if n%5 == 4 {
					return no
				}
				return nil
			})
			if (n%5 == 4) != errors.Is(err, no) || err != nil && !errors.Is(err, no) {
				return errors.Join(errors.New("unexpected"), err)
			}
		}
		return nil
	})
	require.NoError(t, errors.Join(errs...))
	view(t, stores[1], func(tx broker.ReadTx) {
		a, err := tx.Agent("counter")
		require.NoError(t, err)
		require.EqualValues(t, counters*each*4/5, a.Turn)
	})
}

// contexts: a context that has ended, or ends while the update waits, means
// that nothing was done; one that ends within it, that no statement follows.
func contexts(t *testing.T, open Open) {
	s := opened(t, open)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	never := func(broker.Tx) error { panic("called") }
	require.ErrorIs(t, s.Update(ended, never), context.Canceled)
	require.ErrorIs(t, s.View(ended, func(broker.ReadTx) error { panic("called") }), context.Canceled)

	holds, release := make(chan struct{}), make(chan struct{})
	held := make(chan error, 1)
	go func() {
		held <- s.Update(context.Background(), func(tx broker.Tx) error {
			close(holds)
			<-release
			return tx.InsertAgent(agent("held"))
		})
	}()
	<-holds
	waiting, cancel := context.WithCancel(t.Context())
	waited := make(chan error, 1)
	go func() { waited <- s.Update(waiting, never) }()
	cancel()
	require.ErrorIs(t, <-waited, context.Canceled)
	close(release)
	require.NoError(t, <-held)

	within, cancel := context.WithCancel(t.Context())
	defer cancel()
	require.ErrorIs(t, s.Update(within, func(tx broker.Tx) error {
		require.NoError(t, tx.InsertAgent(agent("a")))
		cancel()
		return tx.InsertAgent(agent("b"))
	}), context.Canceled)
	view(t, s, func(tx broker.ReadTx) {
		all, err := tx.Agents(broker.AgentFilter{})
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Equal(t, "held", all[0].ID)
	})
}

// panics: what a function did before it panicked is undone, and the store goes
// on.
func panics(t *testing.T, open Open) {
	s := opened(t, open)
	require.PanicsWithValue(t, "mine", func() {
		_ = s.Update(t.Context(), func(tx broker.Tx) error {
			require.NoError(t, tx.InsertAgent(agent("a")))
			panic("mine")
		})
	})
	update(t, s, func(tx broker.Tx) { require.NoError(t, tx.InsertAgent(agent("a"))) })
	require.PanicsWithValue(t, "mine", func() {
		_ = s.View(t.Context(), func(broker.ReadTx) error { panic("mine") })
	})
	view(t, s, func(tx broker.ReadTx) {
		_, err := tx.Agent("a")
		require.NoError(t, err)
	})
}

// consistent: a view sees one state, and all that was committed before it, while
// others write. Both agents always count the same.
func consistent(t *testing.T, open Open) {
	stores := []broker.Store{opened(t, open), opened(t, open)}
	update(t, stores[0], func(tx broker.Tx) {
		require.NoError(t, tx.InsertAgent(agent("a")))
		require.NoError(t, tx.InsertAgent(agent("b")))
	})
	var committed atomic.Int64
	const steps = 60
	errs := together(4, func(i int) error {
		if i == 0 {
			defer committed.Store(steps) // readers end with it
		}
		for n := 1; i == 0 && n <= steps; n++ {
			err := stores[0].Update(context.Background(), func(tx broker.Tx) error {
				for _, id := range []string{"a", "b"} {
					a, err := tx.Agent(id)
					if err != nil {
						return err
					}
					a.Turn++
					if err := tx.UpdateAgent(a, broker.Working); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			committed.Store(int64(n))
		}
		for i > 0 && committed.Load() < steps {
			before := committed.Load()
			var a, b broker.Agent
			err := stores[i%2].View(context.Background(), func(tx broker.ReadTx) (err error) {
				if a, err = tx.Agent("a"); err != nil {
					return err
				}
				b, err = tx.Agent("b")
				return err
			})
			if err != nil {
				return err
			}
			if a.Turn != b.Turn || a.Turn < before {
				return errors.New(id("%d", int(a.Turn)) + " and " + id("%d", int(b.Turn)) + " after " + id("%d", int(before)))
			}
		}
		return nil
	})
	require.NoError(t, errors.Join(errs...))
}

// viewsChangeNothing, also for whoever finds the way to Tx.
func viewsChangeNothing(t *testing.T, open Open) {
	s := opened(t, open)
	mine := errors.New("mine")
	require.Same(t, mine, s.View(t.Context(), func(broker.ReadTx) error { return mine }))
	view(t, s, func(tx broker.ReadTx) {
		if w, ok := tx.(broker.Tx); ok {
			require.Error(t, w.InsertAgent(agent("a")))
		}
	})
	view(t, s, func(tx broker.ReadTx) {
		all, err := tx.Agents(broker.AgentFilter{})
		require.NoError(t, err)
		require.Empty(t, all)
	})
}

// restart: everything is there when the store is opened again, and goes on
// where it was.
func restart(t *testing.T, open Open) {
	before := open(t)
	update(t, before, func(tx broker.Tx) {
		require.NoError(t, tx.InsertAgent(agent("a")))
		require.NoError(t, tx.InsertRequest(request("r", "a")))
		_, err := tx.InsertMessage(message("m1", "a"))
		require.NoError(t, err)
		require.NoError(t, tx.PutPolicy("hash", []byte("p")))
		require.NoError(t, appended(tx, "hire", "a"))
		require.NoError(t, tx.MarkDelivered("a", []string{"m1"}, now))
	})
	require.NoError(t, before.Close())

	after := opened(t, open)
	update(t, after, func(tx broker.Tx) {
		_, err := tx.Agent("a")
		require.NoError(t, err)
		r, err := tx.Request("r")
		require.NoError(t, err)
		require.Equal(t, request("r", "a"), r)
		m, err := tx.Message("m1")
		require.NoError(t, err)
		require.Equal(t, now, m.DeliveredAt)
		_, err = tx.Policy("hash")
		require.NoError(t, err)
		require.NoError(t, appended(tx, "hire", "b"))
		require.Len(t, chain(t, tx), 2)
		next, err := tx.InsertMessage(message("m2", "a"))
		require.NoError(t, err)
		require.Greater(t, next.Seq, m.Seq)
	})
}

// closed: a store that is closed refuses, and says so; closing it again is fine.
// What ran when it was closed has come to its end.
func closed(t *testing.T, open Open) {
	s := open(t)
	reads, writes, over := make(chan error, 1), make(chan error, 1), make(chan error, 1)
	err := s.View(t.Context(), func(tx broker.ReadTx) error {
		inside := make(chan struct{})
		go func() {
			writes <- s.Update(context.Background(), func(tx broker.Tx) error {
				close(inside)
				return tx.InsertAgent(agent("a"))
			})
		}()
		<-inside
		go func() {
			err := s.Close()
			over <- errors.Join(err, <-reads)
		}()
		_, err := tx.Agents(broker.AgentFilter{})
		return err
	})
	reads <- err
	require.NoError(t, <-over)
	require.NoError(t, <-writes)
	require.ErrorIs(t, s.Update(t.Context(), func(broker.Tx) error { return nil }), fs.ErrClosed)
	require.ErrorIs(t, s.View(t.Context(), func(broker.ReadTx) error { return nil }), fs.ErrClosed)
	require.NoError(t, s.Close())
}
