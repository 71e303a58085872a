package brokerhttp

import (
	"context"
	"sync"

	"github.com/pinfold-dev/pinfold/broker"
)

// turns has each agent's calls compute one after the other. One agent may have many
// calls on their way, each as costly as its bounds let it be: they take one processor
// from others at most. Calls that wait do not count (broker.Turn).
type turns struct {
	mu sync.Mutex
	of map[broker.Identity]*agentTurn
}

type agentTurn struct {
	free  chan struct{} // holds one while nobody has the turn
	calls int           // that have or want it; guarded by turns.mu
}

// begin waits for the caller's turn. The operator has no need of one. end is called
// once the call is over.
func (t *turns) begin(ctx context.Context, who broker.Identity) (_ context.Context, turn *callTurn, end func()) {
	turn = &callTurn{call: ctx}
	if who.Operator() {
		return ctx, turn, func() {}
	}
	t.mu.Lock()
	agent := t.of[who]
	if agent == nil {
		if t.of == nil {
			t.of = map[broker.Identity]*agentTurn{}
		}
		agent = &agentTurn{free: make(chan struct{}, 1)}
		agent.free <- struct{}{}
		t.of[who] = agent
	}
	agent.calls++
	t.mu.Unlock()
	turn.free = agent.free
	turn.Enter()
	return broker.WithTurn(ctx, turn), turn, func() {
		turn.Leave()
		t.mu.Lock()
		defer t.mu.Unlock()
		if agent.calls--; agent.calls == 0 {
			delete(t.of, who)
		}
	}
}

// callTurn is what one call has of its agent's turn.
type callTurn struct {
	call context.Context
	free chan struct{} // nil: it needs none

	mu  sync.Mutex
	has bool // guarded by mu
}

var _ broker.Turn = (*callTurn)(nil)

// Enter waits for the turn, or for the end of the call.
func (t *callTurn) Enter() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free == nil || t.has {
		return
	}
	select {
	case <-t.free:
		t.has = true
	case <-t.call.Done():
	}
}

// Leave lets the agent's next call have it.
func (t *callTurn) Leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.has {
		t.has = false
		t.free <- struct{}{}
	}
}
