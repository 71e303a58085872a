package broker

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Receive hands over the caller's undelivered messages in the order in which
// they came, at most 100; each is handed over once, to one caller. Whoever
// has taken a message up acknowledges it with Ack; what a reader lost before
// that is in Unacked.
//
// With wait it waits until there is a message that wakes, and the agent is idle
// until then; without, it returns what there is. A message that only adds
// context wakes nobody and comes with the next one that does.
func (b *Broker) Receive(ctx context.Context, who Identity, wait bool) ([]Message, error) {
	box := who.String()
	for {
		list, err := b.take(ctx, who, wait)
		if err != nil || len(list) > 0 || !wait {
			return list, err
		}
		err = b.await(ctx, []string{mailboxTopic(box), agentTopic(box)}, time.Time{}, func(tx ReadTx) (bool, error) {
			if err := known(tx, who); err != nil {
				return false, err
			}
			waiting, err := tx.Messages(MessageFilter{RecipientID: box, Undelivered: true, Limit: maxDelivered})
			return wakes(waiting), err
		})
		if err != nil {
			return nil, outcome(err)
		}
	}
}

// wakes reports whether one of the messages is worth waking for.
func wakes(list []Message) bool {
	for _, m := range list {
		if m.Verb != VerbContextualize {
			return true
		}
	}
	return len(list) == maxDelivered
}

// take hands over what there is. Where there is nothing that wakes, and the
// agent is about to wait, it goes idle.
func (b *Broker) take(ctx context.Context, who Identity, wait bool) ([]Message, error) {
	box := MessageFilter{RecipientID: who.String(), Undelivered: true, Limit: maxDelivered}
	idle := false // already
	var list []Message
	look := func(tx ReadTx) (err error) {
		if err = known(tx, who); err != nil {
			return err
		}
		if !who.operator {
			a, err := tx.Agent(who.agent)
			if err != nil {
				return err
			}
			idle = a.State == Idle
		}
		if list, err = tx.Messages(box); err == nil && wait && !wakes(list) {
			list = nil
		}
		return err
	}
	// Looking is cheap, and often there is nothing.
	if err := b.view(ctx, look); err != nil || len(list) == 0 && (!wait || idle || who.operator) {
		return nil, err
	}
	err := b.update(ctx, func(t *tx) error {
		if err := look(t); err != nil {
			return err
		}
		switch {
		case len(list) > 0:
			return t.handOver(who, list)
		case wait && !who.operator:
			return t.setIdle(who)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// handOver marks messages as delivered, and the agent as working.
func (t *tx) handOver(who Identity, list []Message) error {
	ids := make([]string, len(list))
	for i := range list {
		ids[i], list[i].DeliveredAt = list[i].ID, t.now
	}
	if err := t.MarkDelivered(who.String(), ids, t.now); err != nil || who.operator {
		return err
	}
	return t.setWorking(who, list)
}

// setIdle notes that the agent waits, and tells its parent once.
func (t *tx) setIdle(who Identity) error {
	a, err := live(t, who)
	if err != nil || a.State == Idle {
		return err
	}
	a.State = Idle
	a.Turn++
	if err := t.UpdateAgent(a, Working); err != nil {
		return err
	}
	t.Notify(agentTopic(a.ID))
	t.Notify(agentTopic(a.ParentID))
	return t.notifyIdle(a)
}

// setWorking notes that the agent has messages, and what led to the last of
// them. A notification is the broker's own, and leads to nothing.
func (t *tx) setWorking(who Identity, got []Message) error {
	a, err := live(t, who)
	if err != nil {
		return err
	}
	from := a.State
	a.State = Working
	for _, m := range got {
		if m.Type == TypeManager {
			a.Cause = m.Chain
		}
	}
	if err := t.UpdateAgent(a, from); err != nil {
		return err
	}
	t.Notify(agentTopic(a.ID))
	return nil
}

// Ack acknowledges messages that were delivered to the caller, at most 1000 at
// once, and says how many it had not acknowledged before. Ids of others, and
// of what was not delivered, count for nothing.
func (b *Broker) Ack(ctx context.Context, who Identity, ids ...string) (int, error) {
	if len(ids) > maxAcked {
		return 0, refuse(CodeTooLarge, "at most %d messages are acknowledged at once", maxAcked)
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !isStorable(id) })
	n := 0
	err := b.update(ctx, func(t *tx) (err error) {
		if err = known(t, who); err == nil {
			n, err = t.MarkAcked(who.String(), ids, t.now)
		}
		return err
	})
	return n, err
}

// Await returns a child of the caller once it is idle or has ended. The caller
// is idle while it waits, and a message that wakes ends its wait: then the
// child may be working still. No message is handed over.
func (b *Broker) Await(ctx context.Context, who Identity, id string) (Agent, error) {
	if !b.attempts.admit(who) {
		return Agent{}, tooOften()
	}
	var a Agent
	box := who.String()
	look := func(tx ReadTx) (bool, error) {
		err := known(tx, who)
		if err == nil {
			a, err = descendant(tx, who, id)
		}
		if err != nil || a.State == Idle || !a.EndedAt.IsZero() {
			return true, err
		}
		waiting, err := tx.Messages(MessageFilter{RecipientID: box, Undelivered: true, Limit: maxDelivered})
		return wakes(waiting), err
	}
	done := false
	if err := b.update(ctx, func(t *tx) (err error) {
		if done, err = look(t); err != nil || done || who.operator {
			return t.guess(who, "await", id, err)
		}
		return t.setIdle(who)
	}); err != nil || done {
		return a, err
	}
	err := b.await(ctx, []string{agentTopic(id), mailboxTopic(box)}, time.Time{}, look)
	if !who.operator {
		// It goes on working, whatever the wait ended with.
		if e := b.update(context.WithoutCancel(ctx), func(t *tx) error { return t.setWorking(who, nil) }); err == nil {
			err = e
		}
	}
	return a, outcome(err)
}

// descendant is an agent beneath who; in the same words as for none it refuses any
// other.
func descendant(tx ReadTx, who Identity, id string) (Agent, error) {
	a, err := tx.Agent(id)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return a, err
	}
	above, e := manages(tx, who, id)
	if e != nil {
		return a, e
	}
	if err != nil || !above {
		return a, noSession(id)
	}
	return a, nil
}
