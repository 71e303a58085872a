package broker

import (
	"context"
	"errors"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// A request that nobody answered ends all the same: here.

// end closes a pending request without a person's answer, or a grant.
func (t *tx) end(r *Request, status Status, code access.Code) error {
	from := r.Status
	r.Status, r.Code = status, code
	if from == Pending {
		r.ResolvedAt = t.now
	}
	if err := t.UpdateRequest(*r, from); err != nil {
		return err
	}
	t.record(Record{Principal: "", Action: string(status), Resource: string(r.Action) + " " + r.Resource, Tool: r.Tool, Effect: access.Deny, Code: code, Reason: "request of " + r.AgentID, RequestID: r.ID})
	t.Notify(requestTopic(r.ID))
	t.Notify(agentTopic(r.AgentID))
	t.Notify(agentTopic(r.ApproverID))
	return nil
}

// expire ends a request whose time is over and reports whether it has.
func (t *tx) expire(r *Request) (over bool, err error) {
	switch {
	case r.Status == Pending && !r.Deadline.IsZero() && !t.now.Before(r.Deadline):
	case r.Status.granted() && !r.Until.IsZero() && !t.now.Before(r.Until):
	default:
		return false, nil
	}
	return true, t.end(r, Expired, codeExpired)
}

// expireDue ends every request and grant whose time is over. Nothing rests on
// it being done in time: a grant counts by its own time, and an answer looks at
// the deadline.
func (b *Broker) expireDue(ctx context.Context) error {
	due := RequestFilter{Statuses: []Status{Pending, Active}, Due: clock(time.Now())}
	var n int
	if err := b.view(ctx, func(tx ReadTx) (err error) {
		n, err = tx.CountRequests(due)
		return err
	}); err != nil || n == 0 {
		return err
	}
	return b.update(ctx, func(t *tx) error {
		rows, err := t.Requests(due)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if _, err := t.expire(&r); err != nil && !errors.Is(err, ErrConflict) {
				return err
			}
		}
		return nil
	})
}

// cancelOf cancels what an agent has asked for, with the given code.
func (t *tx) cancelOf(agentID string, code access.Code) error {
	return t.cancelAll(RequestFilter{AgentID: agentID, Statuses: []Status{Pending}}, code)
}

// cancelFor cancels what was to be answered by an agent that is gone.
func (t *tx) cancelFor(approverID string) error {
	return t.cancelAll(RequestFilter{ApproverID: &approverID, Statuses: []Status{Pending}}, codeApproverGone)
}

func (t *tx) cancelAll(f RequestFilter, code access.Code) error {
	rows, err := t.Requests(f)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := t.end(&r, Cancelled, code); err != nil {
			return err
		}
	}
	return nil
}

// endGrants ends all leave that an agent had.
func (t *tx) endGrants(agentID string) error {
	rows, err := t.Requests(RequestFilter{AgentID: agentID, Statuses: []Status{Approved, Active}})
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := t.end(&r, Revoked, codeAgentGone); err != nil {
			return err
		}
	}
	return nil
}

// refusal is what the agent is told of a request that has ended without leave:
// "" for one that was approved. It tells what the broker ended from what
// a person denied.
func (r *Request) refusal() (access.Code, string) {
	switch r.Status {
	case Pending:
		return pathresolver.RuleAsk, "it was asked for, and is not answered yet: request " + r.ID
	case Denied:
		if r.Code == codeApproverLacks {
			return codeApproverLacks, "Denied: the manager who approved it may not do it itself"
		}
		if r.DenyReason != "" {
			return CodeDenied, r.DenyReason
		}
		return CodeDenied, "Denied by manager"
	case Revoked:
		return CodeDenied, "the leave was withdrawn before it was used"
	case Expired:
		return codeExpired, "nobody answered in time: the policy's approvals.max_wait is over"
	case Cancelled:
		switch r.Code {
		case codeApproverGone:
			return r.Code, "the manager who was asked is gone"
		case codeDeadlock:
			return r.Code, "the agent and its manager would wait for each other for ever"
		case codeInterrupted:
			return r.Code, "the agent was interrupted"
		}
		return r.Code, "the agent has ended"
	}
	return "", ""
}
