package broker

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Options are what a Broker is made of.
type Options struct {
	// Store keeps everything. It is the caller's to close, after the broker.
	Store Store

	// Rates are the rate limits of sending.
	Rates Rates

	// Keep is how many bytes the broker keeps of one agent of each UsageKind, in
	// all the time that the store lasts; 0 is 32 MiB. An agent of the operator's
	// and all beneath it have ten times that together. Attempts for which there is
	// no more room are counted, and the audit says how many they are; rows for
	// which there is none are refused. What the operator does has no bound.
	Keep int64

	// RecordReads has also what is plainly allowed to be read recorded,
	// which costs a write for each read.
	RecordReads bool
}

// Broker is one of perhaps several that share a store. It is safe for use by many
// goroutines. Its methods take the identity of the caller. A refusal is an *Error with
// another code than CodeUnavailable; any other error means that the store failed, and
// that nothing was granted.
type Broker struct {
	store Store
	id    string
	rates Rates
	keep  int64
	reads bool // are recorded
	hub   hub

	policies policies
	attempts attempts
	denials  attempts     // that views tell of: a rate of its own
	held     atomic.Int64 // waits that are written down and held here

	stop    context.CancelFunc
	stopped sync.WaitGroup
}

// New starts a broker. ctx is for starting only.
func New(ctx context.Context, opt Options) (*Broker, error) {
	if opt.Store == nil {
		return nil, errors.New("a broker needs a store")
	}
	b := &Broker{store: opt.Store, id: newID(time.Now()), rates: opt.Rates.withDefaults(), keep: opt.Keep, reads: opt.RecordReads}
	if b.keep <= 0 {
		b.keep = defaultKeep
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	changes, err := b.store.Changes(run)
	if err != nil {
		stop()
		return nil, err
	}
	b.stop = stop
	b.stopped.Go(func() { b.dispatch(run, changes) })
	b.stopped.Go(func() { b.lease(run) })
	return b, nil
}

// Close ends what the broker does by itself. Calls that wait end with their
// contexts, which are their callers' to end.
func (b *Broker) Close() {
	b.stop()
	b.stopped.Wait()
	b.countAllRefusedByRate()
}

// dispatch wakes those who wait for what has changed.
func (b *Broker) dispatch(ctx context.Context, changes <-chan string) {
	for topic := range changes {
		b.hub.wake(topic)
	}
	// The store is closed, or the broker: whoever waits finds out by looking.
	if ctx.Err() == nil {
		b.hub.wake("")
	}
}

// Watch returns a channel that gets a wake-up when something has changed that
// concerns the caller: anything at all for the operator, its own row, mailbox
// and inbox for an agent. Wake-ups that come together are one.
func (b *Broker) Watch(who Identity) (wake <-chan struct{}, stop func()) {
	if who.operator {
		return b.hub.watch(anyTopic)
	}
	return b.hub.watch(agentTopic(who.agent))
}

// await returns once look says so. look is asked again after each change of one
// of the topics, and once due has come, if it is not zero.
func (b *Broker) await(ctx context.Context, topics []string, due time.Time, look func(ReadTx) (done bool, err error)) error {
	wake, stop := b.hub.watch(topics...)
	defer stop()
	for {
		var done bool
		err := b.look(ctx, func(tx ReadTx) (err error) {
			done, err = look(tx)
			return err
		})
		if err != nil || done {
			return err
		}
		if err := sleep(ctx, wake, due); err != nil {
			return err
		}
	}
}

// sleep returns when it is woken, when due comes, or with the context's error.
func sleep(ctx context.Context, wake <-chan struct{}, due time.Time) (err error) {
	var ring <-chan time.Time
	if !due.IsZero() {
		t := time.NewTimer(max(time.Until(due), time.Millisecond))
		defer t.Stop()
		ring = t.C
	}
	withoutTurn(ctx, func() {
		select {
		case <-wake:
		case <-ring:
		case <-ctx.Done():
			err = ctx.Err()
		}
	})
	return err
}
