package broker

import (
	"context"
	"errors"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// permit decides about a call of a living agent, and records it. A grant for
// one time that covers the call is consumed by it, unless the transaction ends
// in a refusal after all. The error is the store's.
func (t *tx) permit(ctx context.Context, a Agent, c *access.Request) (access.Decision, error) {
	req := *c
	req.Principal, req.ArgsDigest = a.ID, digestOf(c)
	d, err := t.b.check(ctx, t, a, req, t.now)
	if err != nil {
		return d, err
	}
	var once Request
	if d.Effect == access.Ask {
		if d, once, err = t.lastly(ctx, a, req); err != nil {
			return d, err
		}
	}
	record := recordOf(d, a.PolicyHash)
	if record.RequestID = once.ID; once.ID != "" {
		t.record(record) // one for each approval
	} else {
		t.recordAttempt(record)
	}
	return d, nil
}

// lastly decides with what was granted for one time, and uses it up.
func (t *tx) lastly(ctx context.Context, a Agent, req access.Request) (access.Decision, Request, error) {
	d, rows, err := t.b.once(ctx, t, a, req, t.now)
	if err != nil || !d.Allowed() || len(rows) == 0 {
		return d, Request{}, err
	}
	t.used = append(t.used, rows[0]) // of one digest one is pending at a time: all are alike
	return d, rows[0], nil
}

// once decides with what was granted for one time as well, and returns that.
func (b *Broker) once(ctx context.Context, tx ReadTx, a Agent, req access.Request, now time.Time) (access.Decision, []Request, error) {
	rows, err := tx.Requests(RequestFilter{AgentID: a.ID, Statuses: []Status{Approved}, Digest: req.ArgsDigest})
	if err != nil {
		return access.Decision{}, nil, err
	}
	p, err := b.effective(tx, a, now, rows...)
	if err != nil {
		return access.Decision{}, nil, err
	}
	return permission.Enforcer{Policy: p, Registry: kin{tx, a.ID}}.Check(ctx, req), rows, nil
}

// consume marks what was used up.
func (t *tx) consume() error {
	for _, r := range t.used {
		r.Status = Consumed
		if err := t.UpdateRequest(r, Approved); err != nil {
			return err
		}
		t.Notify(requestTopic(r.ID))
	}
	return nil
}

// permitted is permit for what the broker itself does for an agent: nil or a
// refusal, which has CodeAsk for what has to be asked for.
func (t *tx) permitted(ctx context.Context, a Agent, c *access.Request) error {
	d, err := t.permit(ctx, a, c)
	if err != nil {
		return err
	}
	if d.Allowed() {
		return nil
	}
	return &Error{Code: d.Code, Message: d.Text(), recorded: true}
}

// asking does act, and where that has to be asked for first, asks, waits for
// the answer and does it once more. A call that may not block leaves a
// pending request behind.
func (b *Broker) asking(ctx context.Context, who Identity, c *access.Request, act func() error) error {
	err := act()
	var refusal *Error
	if !errors.As(err, &refusal) || refusal.Code != pathresolver.RuleAsk {
		return err
	}
	r, err := b.Ask(ctx, who, *c)
	if approvedMeanwhile(err) {
		return act()
	}
	if err == nil && c.MayBlock {
		r, err = b.Wait(ctx, who, r.ID)
	}
	if err != nil {
		return err
	}
	if code, text := r.refusal(); code != "" {
		return &Error{Code: code, Message: text}
	}
	return act()
}

// approvedMeanwhile reports whether Ask found that nothing has to be asked any
// more.
func approvedMeanwhile(err error) bool {
	var refusal *Error
	return errors.As(err, &refusal) && refusal.Code == permission.CodeAllowed
}
