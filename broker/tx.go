package broker

import (
	"context"
	"errors"
	"time"

	"github.com/pinfold-dev/pinfold/access"
)

// tx is one transaction of the broker: rows, and the records of what was
// decided, which are appended with it.
type tx struct {
	Tx
	b       *Broker
	now     time.Time
	records []noted
	used    []Request        // grants for one time that were used
	over    map[string]int64 // attempts beyond their rate that are counted here, by agent
}

// noted is a record to be written. One of an attempt is counted instead, where the
// agent has used up its room for such.
type noted struct {
	Record
	attempt bool
}

// update runs fn in one transaction. A refusal (*Error) that fn returns is
// committed with what fn has recorded, since refusals are on disk before they
// are given; so fn decides first and changes rows only then. Any other error
// leaves everything as it was.
func (b *Broker) update(ctx context.Context, fn func(*tx) error) error {
	var refusal *Error
	var t *tx
	err := b.store.Update(ctx, func(rows Tx) error {
		refusal = nil
		if t != nil {
			b.attempts.giveBack(t.over)
		}
		t = &tx{Tx: rows, b: b, now: clock(time.Now())}
		err := fn(t)
		if err == nil {
			err = t.consume()
		}
		if err != nil && !errors.As(err, &refusal) {
			return err
		}
		return t.appendRecords()
	})
	if err != nil {
		if t != nil {
			b.attempts.giveBack(t.over)
		}
		return outcome(err)
	}
	if refusal != nil {
		return refusal
	}
	return nil
}

// view runs fn on one state of the store.
func (b *Broker) view(ctx context.Context, fn func(ReadTx) error) error {
	return outcome(b.look(ctx, fn))
}

// look is view with the store's own errors.
func (b *Broker) look(ctx context.Context, fn func(ReadTx) error) error {
	return b.store.View(ctx, func(rows ReadTx) error { return fn(reader{rows}) })
}

// reader finds nothing under an id that a store cannot have: callers name ids,
// and may name anything.
type reader struct{ ReadTx }

func (r reader) Agent(id string) (a Agent, err error)     { return find(id, r.ReadTx.Agent) }
func (r reader) Request(id string) (q Request, err error) { return find(id, r.ReadTx.Request) }
func (r reader) Message(id string) (m Message, err error) { return find(id, r.ReadTx.Message) }
func (t *tx) Agent(id string) (a Agent, err error)        { return find(id, t.Tx.Agent) }
func (t *tx) Request(id string) (q Request, err error)    { return find(id, t.Tx.Request) }
func (t *tx) Message(id string) (m Message, err error)    { return find(id, t.Tx.Message) }

func find[T any](id string, in func(string) (T, error)) (row T, err error) {
	if id == "" || len(id) > maxName || !isStorable(id) {
		return row, ErrNotFound
	}
	return in(id)
}

// record notes what was decided; it is written with the transaction.
func (t *tx) record(r Record) {
	r.Time = t.now
	t.records = append(t.records, noted{Record: r.bounded()})
}

// recordAttempt is record of what can be repeated without an end: a decision about a
// call, or a refusal. What came of something that is itself bounded is never left out.
func (t *tx) recordAttempt(r Record) {
	t.record(r)
	t.records[len(t.records)-1].attempt = r.Principal != rootName
}

// refused records a refusal of what who has tried, unless that was done, and
// returns it.
func (t *tx) refused(who Identity, action, resource string, e *Error) *Error {
	if e.recorded {
		return e
	}
	t.recordAttempt(Record{Principal: who.String(), Action: action, Resource: resource, Effect: access.Deny, Code: e.Code, Reason: e.Message})
	return e
}

// live is the agent's row, if somebody acts under its name.
func live(tx ReadTx, who Identity) (Agent, error) {
	if who.agent == "" {
		return Agent{}, nobody()
	}
	a, err := tx.Agent(who.agent)
	if errors.Is(err, ErrNotFound) || err == nil && (a.State.Ended() || a.over(time.Now())) {
		return Agent{}, nobody()
	}
	return a, err
}

// known refuses nobody and agents that have ended; the operator is known.
func known(tx ReadTx, who Identity) error {
	if who.operator {
		return nil
	}
	_, err := live(tx, who)
	return err
}
