package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pinfold-dev/pinfold/access"
)

// Answer is how a manager approves.
type Answer struct {
	Scope  Scope     // "" is once
	Until  time.Time // when the leave ends; zero is with the agent. Not with once
	Digest string    // of the request that the manager has seen; "" is not compared
}

// Approve answers a request with leave. Only the agent's manager may, or
// the operator for its own children, and only what it may do itself at that
// moment: otherwise the request ends denied. Of several answers one wins;
// the same answer again is no error. With any scope but once, the agent's other
// pending requests that the leave covers are answered at the same time: they
// end as consumed.
func (b *Broker) Approve(ctx context.Context, who Identity, id string, answer Answer) (Request, error) {
	if answer.Scope == "" {
		answer.Scope = Once
	}
	return b.resolve(ctx, who, id, "approve", func(t *tx, r *Request) error {
		if err := answer.check(t.now); err != nil {
			return err
		}
		if answer.Digest != "" && answer.Digest != r.Digest {
			return refuse(CodeMismatch, "the request %s is another one than the approval is about", r.ID)
		}
		lacks, err := t.lacks(ctx, who, r)
		if err != nil {
			return err
		}
		r.Status, r.Scope, r.Until = Active, answer.Scope, clock(answer.Until)
		if answer.Scope == Once {
			r.Status = Approved
		}
		if lacks != "" {
			r.Status, r.Scope, r.Code, r.Until = Denied, "", codeApproverLacks, time.Time{}
			return refuse(codeApproverLacks, "approver_lacks_permission: %s", lacks)
		}
		return nil
	})
}

// Deny answers a request with a refusal. reason is shown to the agent; ""
// is `Denied by manager`. Who may answer is as for Approve.
func (b *Broker) Deny(ctx context.Context, who Identity, id, reason string) (Request, error) {
	return b.resolve(ctx, who, id, "deny", func(_ *tx, r *Request) error {
		r.Status, r.Code, r.DenyReason = Denied, CodeDenied, shown(storable(reason), maxReason)
		return nil
	})
}

// check refuses a scope that means nothing.
func (a *Answer) check(now time.Time) error {
	known := false
	for _, s := range Scopes() {
		known = known || s == a.Scope
	}
	switch {
	case !known:
		return refuse(CodeInvalid, "unknown scope %q: want once, path, subtree, session or until", shown(string(a.Scope), 40))
	case a.Scope == Until && a.Until.IsZero():
		return refuse(CodeInvalid, "the scope until needs a time")
	case a.Scope == Once && !a.Until.IsZero():
		return refuse(CodeInvalid, "the scope once has no time")
	case !a.Until.IsZero() && !now.Before(a.Until):
		return refuse(CodeInvalid, "the time %s is over", a.Until.Format(time.RFC3339))
	}
	return nil
}

// resolve gives a pending request one answer. decide changes the row; the row
// is written also where it returns a refusal, if it has changed the status.
func (b *Broker) resolve(ctx context.Context, who Identity, id, verb string, decide func(*tx, *Request) error) (Request, error) {
	if !b.attempts.admit(who) {
		return Request{}, tooOften()
	}
	var r Request
	err := b.update(ctx, func(t *tx) error {
		err := t.resolvable(who, id, &r)
		if err == nil && r.Status != Pending {
			return t.again(who, verb, &r)
		}
		if err == nil {
			err = decide(t, &r)
		}
		var refusal *Error
		if err != nil && !errors.As(err, &refusal) {
			return err
		}
		if refusal != nil {
			_ = t.refused(who, verb, id, refusal)
		}
		if r.Status == Pending || r.ID == "" {
			return err
		}
		if e := t.answered(who, verb, &r); e != nil {
			return e
		}
		if e := t.cover(ctx, who, &r); e != nil {
			return e
		}
		return err
	})
	if err != nil {
		return Request{}, err
	}
	return r, nil
}

// resolvable reads a request that who may answer.
func (t *tx) resolvable(who Identity, id string, r *Request) (err error) {
	*r = Request{}
	if err = known(t, who); err != nil {
		return err
	}
	row, err := t.Request(id)
	switch {
	case errors.Is(err, ErrNotFound):
		return noApproval(id)
	case err != nil:
		return err
	case row.AgentID == who.agent || row.ApproverID != who.agent:
		// The operator's agent is "", as is the approver of its own children.
		return refuse(CodeNotManager, "Only the agent's manager can approve")
	}
	*r = row
	_, err = t.expire(r)
	return err
}

// again is the answer to a request that has one: the same by the same is no
// error.
func (t *tx) again(who Identity, verb string, r *Request) error {
	approved := r.Status.granted() || r.Status == Consumed
	denied := r.Status == Denied && r.Code == CodeDenied
	if r.Resolver == who.String() && (verb == "approve" && approved || verb == "deny" && denied) {
		return nil
	}
	return t.refused(who, verb, r.ID, refuse(CodeResolved, "%s", r.answerText()))
}

// answerText says which answer a request has, whose it is, and what has become of leave
// that was given with it.
func (r *Request) answerText() string {
	answer, by, since := string(r.Status), r.Resolver, ""
	if by == "" {
		by = "the broker (" + string(r.Code) + ")"
	}
	if r.Scope != "" { // no other row has one
		answer = string(Approved)
		switch r.Status {
		case Consumed:
			since = ", and used"
		case Revoked:
			since = ", and withdrawn since"
		case Expired:
			since = ", and expired since"
		}
	}
	return "Already " + answer + " by " + by + " at " + r.ResolvedAt.Format(time.RFC3339) + since
}

// lacks says why the approver may not do itself what it approves; "" if it may.
func (t *tx) lacks(ctx context.Context, who Identity, r *Request) (string, error) {
	if who.operator {
		return "", nil
	}
	approver, err := live(t, who)
	if err != nil {
		return "", err
	}
	// The request's places are in the agent's project, the approver's rules about its own.
	a, err := t.agent(r.AgentID)
	if err != nil {
		return "", err
	}
	at, err := placeIn(approver, a)
	if err != nil {
		return "", err
	}
	call := r.call()
	there := access.Access{Action: call.Action, Resource: call.Resource}.In(at)
	call.Resource = there.Resource
	call.Also = slices.Clone(call.Also)
	for i := range call.Also {
		call.Also[i] = call.Also[i].In(at)
	}
	d, err := t.b.check(ctx, t, approver, call, t.now)
	if err != nil || d.Allowed() {
		return "", err
	}
	return fmt.Sprintf("'%s' is itself refused it (%s)", approver.ID, d.Code), nil
}

// answered writes the answer, wakes the agent and records it.
func (t *tx) answered(who Identity, verb string, r *Request) error {
	r.Resolver, r.ResolvedAt = who.String(), t.now
	if err := t.UpdateRequest(*r, Pending); err != nil {
		return err
	}
	effect := access.Deny
	if r.Status.granted() {
		effect = access.Allow
	}
	t.record(Record{Principal: who.String(), Action: verb, Resource: string(r.Action) + " " + r.Resource, Tool: r.Tool, Effect: effect, Code: access.Code(r.Status), Reason: "request of " + r.AgentID + " " + string(r.Scope) + r.DenyReason, RequestID: r.ID})
	t.Notify(agentTopic(r.AgentID)) // its view, before who waits and goes on by what the view knows
	t.Notify(agentTopic(r.ApproverID))
	t.Notify(requestTopic(r.ID))
	return nil
}
