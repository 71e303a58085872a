package broker

import (
	"context"
	"errors"
	"time"
)

// Wait returns the request once it is no longer pending. Only the agent that
// asked may wait, and the operator. It waits as long as ctx lasts: the row stays
// when ctx ends, and can be waited for again, also by another broker and after
// a restart. Where the wait closes a circle of agents that wait for each
// other, the request is cancelled at once.
func (b *Broker) Wait(ctx context.Context, who Identity, id string) (Request, error) {
	if !b.attempts.admit(who) {
		return Request{}, tooOften()
	}
	var r Request
	var key string
	err := b.update(ctx, func(t *tx) (err error) {
		if r, err = t.ownRequest(who, id); err != nil || r.Status != Pending {
			return t.guess(who, "wait", id, err)
		}
		if over, err := t.expire(&r); err != nil || over || who.operator {
			return err
		}
		key, err = t.beginWait(&r)
		return err
	})
	if err != nil || r.Status != Pending {
		return r, err
	}
	defer b.hold(ctx, key)()
	err = b.await(ctx, []string{requestTopic(id)}, r.Deadline, func(tx ReadTx) (bool, error) {
		if r, err = tx.Request(id); err != nil {
			return false, err
		}
		return r.Status != Pending || !r.Deadline.IsZero() && !time.Now().Before(r.Deadline), nil
	})
	if errors.Is(err, ErrNotFound) {
		return Request{}, refuse(codeRequestFailed, "Request failed")
	}
	if err == nil && r.Status == Pending {
		err = b.update(ctx, func(t *tx) error {
			if r, err = t.ownRequest(who, id); err == nil {
				_, err = t.expire(&r)
			}
			return err
		})
	}
	return r, outcome(err)
}

// ownRequest is a request that who has made; the operator sees all.
func (t *tx) ownRequest(who Identity, id string) (Request, error) {
	if err := known(t, who); err != nil {
		return Request{}, err
	}
	r, err := t.Request(id)
	if errors.Is(err, ErrNotFound) || err == nil && !who.operator && r.AgentID != who.agent {
		return Request{}, noApproval(id)
	}
	return r, err
}

func noApproval(id string) *Error {
	return refuse(CodeNotFound, "Approval not found: %s", shown(id, maxShown))
}

// beginWait writes down that the request's agent waits for its manager, or
// cancels the request if that would close a circle.
func (t *tx) beginWait(r *Request) (key string, err error) {
	key, circle, err := t.waitFor(r.AgentID, r.ApproverID)
	if err == nil && circle {
		err = t.end(r, Cancelled, codeDeadlock)
	}
	return key, err
}

// Denial is what the agent is told of a request that was not approved, as Wait
// returned it: "" for one that was.
func (r Request) Denial() string {
	_, text := r.refusal()
	return text
}

// Approval reports whether the request was approved, used or not.
func (r Request) Approval() bool { return r.Status.granted() || r.Status == Consumed }
