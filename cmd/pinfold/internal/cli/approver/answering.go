package approver

import (
	"context"
	"slices"
	"sync"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Answering answers the requests of a run's agent for its operator.
type Answering struct {
	b      *broker.Broker
	out    *cli.Output
	answer func(context.Context, broker.Request) decision
	turn   chan struct{} // one for each answer that is being found

	mu    sync.Mutex
	seen  map[string]context.CancelFunc // of requests that are pending, by their id
	all   sync.WaitGroup
	stop  context.CancelFunc
	ended func() error // of what was started for it; nil for nothing
}

// start starts to answer, atOnce requests at a time.
func start(ctx context.Context, b *broker.Broker, out *cli.Output, atOnce int, answer func(context.Context, broker.Request) decision) *Answering {
	w := &Answering{b: b, out: out, answer: answer, turn: make(chan struct{}, atOnce), seen: map[string]context.CancelFunc{}}
	ctx, w.stop = context.WithCancel(ctx)
	w.all.Go(func() { w.watch(ctx) })
	return w
}

// Close returns once nothing is being answered any more. A nil Answering has
// nothing to close.
func (w *Answering) Close() (err error) {
	if w == nil {
		return nil
	}
	if w.stop != nil {
		w.stop()
	}
	w.all.Wait()
	if w.ended != nil {
		err = w.ended()
	}
	return err
}

// watch looks what is pending whenever something has changed.
func (w *Answering) watch(ctx context.Context) {
	wake, stop := w.b.Watch(broker.OperatorIdentity())
	defer stop()
	for {
		if rows, err := w.b.Requests(ctx, broker.OperatorIdentity()); err == nil {
			w.take(ctx, rows)
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return
		}
	}
}

// take begins to answer what is new, and gives up what is gone.
func (w *Answering) take(ctx context.Context, rows []broker.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, over := range w.seen {
		if !slices.ContainsFunc(rows, func(r broker.Request) bool { return r.ID == id }) {
			over()
			delete(w.seen, id)
		}
	}
	for _, r := range rows {
		if w.seen[r.ID] != nil {
			continue
		}
		one, over := context.WithCancel(ctx)
		w.seen[r.ID] = over
		w.all.Go(func() { w.one(one, r) })
	}
}

func (w *Answering) one(ctx context.Context, r broker.Request) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return
	}
	// The answer before this one may have covered it, before anybody was told.
	operator := broker.OperatorIdentity()
	r, err := w.b.Request(ctx, operator, r.ID)
	if err != nil || r.Status != broker.Pending {
		return
	}
	v := w.answer(ctx, r)
	if ctx.Err() != nil {
		return // it was answered elsewhere, or is no longer asked for
	}
	switch v.effect {
	case access.Deny:
		_, err = w.b.Deny(ctx, operator, r.ID, v.reason)
	case access.Allow:
		v.answer.Digest = r.Digest // what was shown is what is approved
		_, err = w.b.Approve(ctx, operator, r.ID, v.answer)
	}
	if err != nil && ctx.Err() == nil {
		w.out.Warning("request " + r.ID + " could not be answered: " + pathresolver.EscapePath(err.Error()))
	}
}
