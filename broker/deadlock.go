package broker

import (
	"context"
	"time"
)

// Agents that wait for each other in a circle wait for ever. Every wait of an
// agent for another is a row, written before the wait begins; transactions are
// one after the other, so the wait that closes a circle sees all the others,
// on whichever broker they are held, and is refused at once.

// maxWaitsSeen bounds the search for a circle.
const maxWaitsSeen = 10_000

// waitFor writes down a wait under a key of its own, and reports whether it
// would close a circle; then it is not written. A wait for the operator never
// does, and has no row.
func (t *tx) waitFor(agentID, onID string) (key string, circle bool, err error) {
	if onID == "" {
		return "", false, nil
	}
	if err := t.forgetLost(); err != nil {
		return "", false, err
	}
	if own, err := t.Waits(WaitFilter{AgentID: agentID}); err != nil {
		return "", false, err
	} else if len(own) >= maxWaits {
		return "", false, refuse(CodeTooMany, "%d calls of '%s' wait already", len(own), agentID)
	}
	if circle, err = t.waitsFor(onID, agentID); err != nil || circle {
		return "", circle, err
	}
	if err := t.PutBroker(t.b.id, t.now); err != nil {
		return "", false, err
	}
	key = newID(t.now)
	return key, false, t.InsertWait(Wait{For: key, AgentID: agentID, OnID: onID, BrokerID: t.b.id})
}

// waitsFor reports whether from waits, over others, for to.
func (t *tx) waitsFor(from, to string) (bool, error) {
	seen := map[string]bool{}
	for todo := []string{from}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if id == to {
			return true, nil
		}
		if id == "" || seen[id] || len(seen) >= maxWaitsSeen {
			continue
		}
		seen[id] = true
		waits, err := t.Waits(WaitFilter{AgentID: id})
		if err != nil {
			return false, err
		}
		for _, w := range waits {
			todo = append(todo, w.OnID)
		}
	}
	return false, nil
}

// hold counts a wait that this broker holds, so that its lease is renewed, until
// release is called. A key of "" is no wait.
func (b *Broker) hold(ctx context.Context, key string) (release func()) {
	if key == "" {
		return func() {}
	}
	b.held.Add(1)
	return func() {
		defer b.held.Add(-1)
		// Also when the caller has given up: it is no longer waiting.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTime)
		defer cancel()
		// Where this fails the lease ends it.
		_ = b.store.Update(ctx, func(tx Tx) error {
			_, err := tx.DeleteWaits(WaitFilter{For: key})
			return err
		})
	}
}

// lease says from time to time that the broker lives, while it holds waits, and ends the
// agents whose time is over.
func (b *Broker) lease(ctx context.Context) {
	tick := time.NewTicker(leaseEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		// A store that fails now may not fail the next time.
		_ = b.endOver(ctx)
		if b.held.Load() > 0 {
			_ = b.store.Update(ctx, func(tx Tx) error { return tx.PutBroker(b.id, clock(time.Now())) })
		}
	}
}

// forgetLost deletes the waits of brokers that are gone.
func (t *tx) forgetLost() error {
	brokers, err := t.Brokers()
	if err != nil {
		return err
	}
	for id, seen := range brokers {
		if id != t.b.id && t.now.Sub(seen) > leaseTime {
			if err := t.DeleteBroker(id); err != nil {
				return err
			}
		}
	}
	return nil
}
