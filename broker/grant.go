package broker

import (
	"context"
	"errors"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
)

// Requests lists the pending requests that the caller may answer, oldest first.
func (b *Broker) Requests(ctx context.Context, who Identity) ([]Request, error) {
	if err := b.expireDue(ctx); err != nil {
		return nil, err
	}
	var rows []Request
	err := b.view(ctx, func(tx ReadTx) (err error) {
		if err = known(tx, who); err == nil {
			rows, err = tx.Requests(RequestFilter{ApproverID: &who.agent, Statuses: []Status{Pending}})
		}
		return err
	})
	return rows, err
}

// Request is one request, for the agent that made it, its manager, and the
// operator.
func (b *Broker) Request(ctx context.Context, who Identity, id string) (Request, error) {
	var r Request
	err := b.view(ctx, func(tx ReadTx) (err error) {
		if err = known(tx, who); err != nil {
			return err
		}
		r, err = tx.Request(id)
		if errors.Is(err, ErrNotFound) || err == nil && !who.operator && r.AgentID != who.agent && r.ApproverID != who.agent {
			return noApproval(id)
		}
		return err
	})
	if err != nil {
		return Request{}, b.guessed(ctx, who, "look", id, err)
	}
	return r, nil
}

// FindRequests lists the requests whose ids begin with begin, at most maxFound, of those
// that Request has for the caller: pending ones and all that have ended, so that what
// begins one id now has not begun another one's before.
func (b *Broker) FindRequests(ctx context.Context, who Identity, begin string) ([]Request, error) {
	if begin == "" || len(begin) > maxName || !isStorable(begin) {
		return nil, nil
	}
	var found []Request
	err := b.view(ctx, func(tx ReadTx) error {
		if err := known(tx, who); err != nil {
			return err
		}
		filters := []RequestFilter{{}}
		if !who.operator {
			filters = []RequestFilter{{AgentID: who.agent}, {ApproverID: &who.agent}}
		}
		for _, f := range filters {
			f.After, f.Limit = begin, maxFound // what begins with it comes first
			rows, err := tx.Requests(f)
			if err != nil {
				return err
			}
			for _, r := range rows {
				if strings.HasPrefix(r.ID, begin) && len(found) < maxFound {
					found = append(found, r)
				}
			}
		}
		return nil
	})
	return found, err
}

// Grants lists the leave that is in force: all of it for the operator, that of
// itself and of its children for an agent.
func (b *Broker) Grants(ctx context.Context, who Identity) ([]Request, error) {
	if err := b.expireDue(ctx); err != nil {
		return nil, err
	}
	var rows []Request
	err := b.view(ctx, func(tx ReadTx) error {
		if err := known(tx, who); err != nil {
			return err
		}
		f := RequestFilter{Statuses: []Status{Approved, Active}}
		if who.operator {
			var err error
			rows, err = tx.Requests(f)
			return err
		}
		f.AgentID = who.agent
		own, err := tx.Requests(f)
		if err != nil {
			return err
		}
		f.AgentID, f.ApproverID = "", &who.agent
		given, err := tx.Requests(f)
		rows = append(own, given...)
		return err
	})
	return rows, err
}

// Revoke withdraws leave, at once: what is opened from now on is decided
// without it. The agent's managers may, at any height, and the operator.
// To withdraw it twice is no error.
func (b *Broker) Revoke(ctx context.Context, who Identity, id string) (Request, error) {
	if !b.attempts.admit(who) {
		return Request{}, tooOften()
	}
	var r Request
	err := b.update(ctx, func(t *tx) (err error) {
		if err = known(t, who); err != nil {
			return err
		}
		r, err = t.Request(id)
		if errors.Is(err, ErrNotFound) {
			return t.refused(who, "revoke", id, noApproval(id))
		}
		if err != nil {
			return err
		}
		if above, err := manages(t, who, r.AgentID); err != nil {
			return err
		} else if !above {
			return t.refused(who, "revoke", id, refuse(CodeNotManager, "Only the agent's manager can approve"))
		}
		switch {
		case r.Status == Revoked:
			return nil
		case !r.Status.granted():
			return t.refused(who, "revoke", id, refuse(CodeResolved, "The request %s is %s: there is no leave to withdraw", r.ID, r.Status))
		}
		from := r.Status
		r.Status = Revoked
		if err := t.UpdateRequest(r, from); err != nil {
			return err
		}
		t.record(Record{Principal: who.String(), Action: "revoke", Resource: string(r.Action) + " " + r.Resource, Tool: r.Tool, Effect: access.Deny, Code: access.Code(r.Status), Reason: "request of " + r.AgentID, RequestID: r.ID})
		t.Notify(requestTopic(r.ID))
		t.Notify(agentTopic(r.AgentID))
		return nil
	})
	if err != nil {
		return Request{}, err
	}
	return r, nil
}

// manages reports whether who is a manager of the agent, at any height: the
// operator is everybody's.
func manages(tx ReadTx, who Identity, id string) (bool, error) {
	if who.operator {
		return true, nil
	}
	for range maxDepth + 1 {
		a, err := tx.Agent(id)
		if errors.Is(err, ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if a.ParentID == who.agent && who.agent != "" {
			return true, nil
		}
		if id = a.ParentID; id == "" {
			return false, nil
		}
	}
	return false, nil
}
