package broker

import (
	"context"

	"github.com/pinfold-dev/pinfold/permission"
)

// permit decides about a call of a living agent, and records it. A grant for
// one time that covers the call is consumed by it. The error is the store's.
func (t *tx) permit(ctx context.Context, a Agent, c *Call) (permission.Decision, error) {
	req := c.Request
	req.Principal, req.ArgsDigest = a.ID, c.digest()
	d, err := t.b.check(ctx, t, a, req, t.now)
	if err != nil {
		return d, err
	}
	record := recordOf(d, a.PolicyHash)
	if d.Effect == permission.Ask {
		var once Request
		if d, once, err = t.consume(ctx, a, req); err != nil {
			return d, err
		}
		record = recordOf(d, a.PolicyHash)
		record.RequestID = once.ID
	}
	t.record(record)
	return d, nil
}

// consume uses a grant for one time, if there is one and it counts now.
func (t *tx) consume(ctx context.Context, a Agent, req permission.Request) (permission.Decision, Request, error) {
	rows, err := t.Requests(RequestFilter{AgentID: a.ID, Statuses: []Status{Approved}, Digest: req.ArgsDigest})
	if err != nil {
		return permission.Decision{}, Request{}, err
	}
	p, err := t.b.effective(t, a, t.now, rows...)
	if err != nil {
		return permission.Decision{}, Request{}, err
	}
	d := permission.Enforcer{Policy: p, Registry: kin{t}}.Check(ctx, req)
	if !d.Allowed() || len(rows) == 0 {
		return d, Request{}, nil
	}
	used := rows[0] // one was pending at a time, so all but one are as good
	used.Status = Consumed
	if err := t.UpdateRequest(used, Approved); err != nil {
		return permission.Decision{}, Request{}, err
	}
	t.Notify(requestTopic(used.ID))
	return d, used, nil
}

// permitted is permit for what the broker itself does for an agent: nil, a
// refusal, or needsAsking.
func (t *tx) permitted(ctx context.Context, a Agent, c *Call) error {
	d, err := t.permit(ctx, a, c)
	if err != nil {
		return err
	}
	if d.Effect == permission.Ask {
		return &Error{Code: permission.CodeAsk, Message: d.Text()}
	}
	if !d.Allowed() {
		return &Error{Code: d.Code, Message: d.Text()}
	}
	return nil
}

// asking does act, and where that needs asking for first, asks and does it once
// more.
func (b *Broker) asking(ctx context.Context, who Identity, c *Call, act func() error) error {
	err := act()
	refusal, ok := err.(*Error)
	if !ok || refusal.Code != permission.CodeAsk || !c.MayBlock {
		return err
	}
	r, err := b.Ask(ctx, who, *c)
	if err == nil {
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
