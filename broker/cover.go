package broker

import (
	"context"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/permission"
)

// cover answers the other pending requests of the agent that need not be asked
// any more, now that a grant is in force. Whether that is so is the decision
// that a new request gets (ask.go). The leave is the grant's alone: what it
// covered is over, and withdrawing the grant withdraws all.
func (t *tx) cover(ctx context.Context, who Identity, grant *Request) error {
	if grant.Status != Active {
		return nil
	}
	a, err := t.Agent(grant.AgentID)
	if err != nil {
		return err
	}
	rows, err := t.Requests(RequestFilter{AgentID: a.ID, Statuses: []Status{Pending}})
	if err != nil {
		return err
	}
	for _, r := range rows {
		if over, err := t.expire(&r); err != nil {
			return err
		} else if over {
			continue
		}
		call := r.call()
		own, err := t.b.hiredPolicy(t, a)
		if err != nil {
			return err
		}
		// What the agent's own policy allows waits because the caller wants a yes
		// to it: then only a grant of it is one.
		call.Confirm = permission.Enforcer{Policy: own, Registry: kin{t, a.ID}}.Check(ctx, call).Allowed()
		d, err := t.b.check(ctx, t, a, call, t.now)
		if err != nil {
			return err
		}
		if !d.Allowed() {
			continue
		}
		if err := t.covered(who, a, grant, &r, d); err != nil {
			return err
		}
	}
	return nil
}

// covered writes that a request was answered by another one's grant. The row
// tells how far that reaches, and lifts nothing itself.
func (t *tx) covered(who Identity, a Agent, grant, r *Request, d access.Decision) error {
	r.Status, r.Scope, r.Until = Consumed, grant.Scope, grant.Until
	r.Resolver, r.ResolvedAt = who.String(), t.now
	if err := t.UpdateRequest(*r, Pending); err != nil {
		return err
	}
	t.record(Record{Principal: who.String(), Action: "approve", Resource: string(r.Action) + " " + r.Resource, Tool: r.Tool, Effect: access.Allow, Code: access.Code(r.Status), Reason: "request of " + a.ID + " covered with the grant " + grant.ID, Rule: d.Rule, PolicyHash: a.PolicyHash, RequestID: r.ID})
	t.Notify(requestTopic(r.ID)) // the agents' topics were told with the grant
	return nil
}
