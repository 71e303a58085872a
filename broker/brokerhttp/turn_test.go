package brokerhttp

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// One agent's calls compute one after the other, and keep nobody else from it.
func TestTurnsOfOneAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all turns
		busy, other := broker.AgentIdentity("busy"), broker.AgentIdentity("other")
		_, first, end := all.begin(t.Context(), busy)
		var computing, most, done atomic.Int64
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() {
				_, _, end := all.begin(t.Context(), busy)
				defer end()
				most.Store(max(most.Load(), computing.Add(1)))
				done.Add(1)
				computing.Add(-1)
			})
		}
		synctest.Wait()
		require.Zero(t, done.Load(), "the first has the turn")
		for _, who := range []broker.Identity{other, broker.OperatorIdentity(), broker.OperatorIdentity()} {
			_, _, end := all.begin(t.Context(), who)
			defer end()
		}

		first.Leave() // it waits for something
		synctest.Wait()
		require.EqualValues(t, 20, done.Load())
		require.EqualValues(t, 1, most.Load())
		first.Enter()
		end()
		calls.Wait()
		require.Len(t, all.of, 1, "who asks no more is forgotten")
	})
}

// What waits in the broker does so without its turn, and a call that was given up
// waits for none.
func TestTurnsWhileWaiting(t *testing.T) {
	s := serve(t, private(t), Options{})
	s.hire("boss", "", "trusted")
	s.hire("worker", "boss", "")
	worker := s.as("worker")
	waited := make(chan error, 1)
	go func() {
		_, err := worker.DecideWaiting(t.Context(), DecideBody{Action: "fs.write", Resource: "src/a"})
		waited <- err
	}()
	require.Eventually(t, func() bool { return s.waits("worker") == 1 }, time.Minute, 5*time.Millisecond, "it waits")
	_, err := worker.Decide(t.Context(), DecideBody{Action: "fs.write", Resource: "docs/a"})
	require.NoError(t, err, "the agent's next call has the turn")
	rows, err := s.as("boss").Requests(t.Context())
	require.NoError(t, err)
	require.Len(t, rows, 1)
	_, err = s.as("boss").Deny(t.Context(), rows[0].ID, DenyBody{Reason: "no"})
	require.NoError(t, err)
	require.NoError(t, <-waited)

	var all turns
	_, _, end := all.begin(t.Context(), broker.AgentIdentity("busy"))
	defer end()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, turn, end2 := all.begin(ctx, broker.AgentIdentity("busy"))
	require.False(t, turn.has)
	end2()
}
