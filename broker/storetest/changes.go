package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// changes: a listener hears of each topic, or of "", from its own store and
// from others, once it is committed and not before.
func changes(t *testing.T, open Open) {
	stores := []broker.Store{opened(t, open), opened(t, open)}
	for _, listens := range stores {
		for _, tells := range stores {
			ctx, cancel := context.WithCancel(t.Context())
			heard, err := listens.Changes(ctx)
			require.NoError(t, err)
			other, err := listens.Changes(ctx)
			require.NoError(t, err)
			for n := range 3 {
				name := id(id("agent-%d", n)+"-%d", serialNumber(t, listens))
				topic := "topic " + name
				update(t, tells, func(tx broker.Tx) {
					require.NoError(t, tx.InsertAgent(agent(name)))
					tx.Notify(topic)
				})
				for _, ch := range []<-chan string{heard, other} {
					wait(t, ch, topic)
				}
				// Woken, a reader finds what woke it.
				view(t, listens, func(tx broker.ReadTx) {
					_, err := tx.Agent(name)
					require.NoError(t, err)
				})
			}
			cancel()
		}
	}
}

// serialNumber is how many agents there are: a number that was not used.
func serialNumber(t *testing.T, s broker.Store) (n int) {
	view(t, s, func(tx broker.ReadTx) {
		all, err := tx.Agents(broker.AgentFilter{})
		require.NoError(t, err)
		n = len(all)
	})
	return n
}

// wait reads until a topic, or any, is told.
func wait(t *testing.T, ch <-chan string, topic string) {
	t.Helper()
	end := time.After(within)
	for {
		select {
		case got, ok := <-ch:
			require.True(t, ok, "the channel was closed")
			if got == topic || got == "" {
				return
			}
		case <-end:
			require.Fail(t, "nothing was told", topic)
		}
	}
}

// slowReader: who reads nothing holds nobody up, and hears in the end that
// something was missed.
func slowReader(t *testing.T, open Open) {
	s := opened(t, open)
	heard, err := s.Changes(t.Context())
	require.NoError(t, err)
	const many = 3000
	update(t, s, func(tx broker.Tx) {
		require.NoError(t, tx.InsertAgent(agent("a")))
		for i := range many {
			tx.Notify(id("topic %d", i))
		}
	})
	update(t, s, func(tx broker.Tx) {
		require.NoError(t, tx.InsertAgent(agent("b")))
		tx.Notify("last")
	})
	wait(t, heard, "last")
}

// changesEnd: the channel is closed with its context, and with its store.
func changesEnd(t *testing.T, open Open) {
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	one, err := s.Changes(ctx)
	require.NoError(t, err)
	two, err := s.Changes(t.Context())
	require.NoError(t, err)
	cancel()
	drained(t, one)
	require.NoError(t, s.Close())
	drained(t, two)
}

func drained(t *testing.T, ch <-chan string) {
	t.Helper()
	end := time.After(within)
	for {
		select {
		case _, ok := <-ch:
			if !ok {
				return
			}
		case <-end:
			require.Fail(t, "the channel is not closed")
		}
	}
}
