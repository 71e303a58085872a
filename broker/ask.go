package broker

import (
	"context"
	"errors"
	"path"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Ask puts a call that the agent's policy marks `ask` to its manager, and
// returns the pending row without waiting for an answer. The same call while
// it is pending is the same row. What the policy allows anyway or denies
// is not asked for: the error has CodeAllowed or the policy's own code, since
// an approval never overrides a deny.
func (b *Broker) Ask(ctx context.Context, who Identity, c access.Request) (Request, error) {
	if !b.attempts.admit(who) {
		return Request{}, tooOften()
	}
	var r Request
	err := b.update(ctx, func(t *tx) error {
		a, err := live(t, who)
		if err == nil {
			err = checkCall(&c)
		}
		if err == nil {
			r, err = t.ask(ctx, a, &c)
		}
		var refusal *Error
		if errors.As(err, &refusal) {
			return t.refused(who, "ask", c.Resource, refusal)
		}
		return err
	})
	return r, err
}

func (t *tx) ask(ctx context.Context, a Agent, c *access.Request) (Request, error) {
	digest := digestOf(c)
	req := *c
	req.ArgsDigest = digest
	d, err := t.b.check(ctx, t, a, req, t.now)
	if err != nil {
		return Request{}, err
	}
	if d.Effect != access.Ask {
		t.recordAttempt(recordOf(d, a.PolicyHash))
		return Request{}, &Error{Code: d.Code, Message: d.Text(), recorded: true}
	}
	if err := outOfReach(c); err != nil {
		return Request{}, err
	}
	// What was answered for one time and not yet used is the answer still.
	same, err := t.Requests(RequestFilter{AgentID: a.ID, Statuses: []Status{Pending, Approved}, Digest: digest})
	if err != nil {
		return Request{}, err
	}
	for _, r := range same {
		if over, err := t.expire(&r); err != nil {
			return r, err
		} else if !over {
			return r, t.explain(a, c, &r)
		}
	}
	if a.ParentID != "" {
		manager, err := t.Agent(a.ParentID)
		if err != nil {
			return Request{}, err
		}
		if manager.State.Ended() {
			return Request{}, refuse(codeNoManager, "No manager to approve request")
		}
	}
	pending, err := t.CountRequests(RequestFilter{AgentID: a.ID, Statuses: []Status{Pending}})
	if err != nil {
		return Request{}, err
	}
	if pending >= maxPending {
		return Request{}, refuse(CodeTooMany, "%d requests are pending already: wait until one is answered", maxPending)
	}
	input := compactJSON(c.Input)
	if err := t.roomForInput(a, input); err != nil {
		return Request{}, err
	}
	r := Request{
		ID: newID(t.now), AgentID: a.ID, ApproverID: a.ParentID, Action: c.Action, Resource: c.Resource, Also: c.Also, Tool: c.Tool,
		Input: input, Reason: shown(storable(c.Reason), maxReason), Digest: digest, Status: Pending, CreatedAt: t.now,
	}
	if wait, err := t.maxWait(a); err != nil {
		return Request{}, err
	} else if wait > 0 {
		r.Deadline = clock(t.now.Add(wait))
	}
	return r, t.file(a, r)
}

// outOfReach refuses to ask for a place outside the project for which nobody acts: no
// view shows it and no skill opens it, so leave for it would come to nothing. A tool
// that opens it by itself is another matter.
func outOfReach(c *access.Request) error {
	if c.Tool != "" {
		return nil
	}
	for _, a := range append([]access.Access{{Action: c.Action, Resource: c.Resource}}, c.Also...) {
		op, ok := a.Action.Op()
		if !ok || !path.IsAbs(a.Resource) && a.Resource != ".." && !strings.HasPrefix(a.Resource, "../") {
			continue
		}
		denied := pathresolver.DeniedError{Op: op, Path: a.Resource, Rule: pathresolver.RuleOutsideRoot,
			Reason: "it lies outside the project, where no view and no skill does what was approved. What a run may read there is named when it is started, by --ro"}
		return refuse(denied.Rule, "%s", denied.Error())
	}
	return nil
}

// explain adds the reason of a call to the pending request for it: what was first
// refused, and asked for by that, may be explained afterwards. What is new stands
// first, so that it is not what is cut.
func (t *tx) explain(a Agent, c *access.Request, r *Request) error {
	reason := shown(storable(c.Reason), maxReason)
	if r.Status != Pending || c.Observed || reason == "" || strings.HasPrefix(r.Reason, reason) {
		return nil
	}
	if r.Reason != "" {
		reason = shown(reason+" (before: "+r.Reason+")", maxReason)
	}
	r.Reason = reason
	if err := t.UpdateRequest(*r, Pending); err != nil {
		return err
	}
	t.recordAttempt(Record{Principal: a.ID, Action: "ask", Resource: string(r.Action) + " " + r.Resource, Tool: r.Tool, Effect: access.Ask, Code: pathresolver.RuleAsk, Reason: "the reason was given", PolicyHash: a.PolicyHash, RequestID: r.ID})
	t.Notify(agentTopic(a.ID))
	t.Notify(agentTopic(r.ApproverID))
	return nil
}

// file writes a new request, and tells the manager.
func (t *tx) file(a Agent, r Request) error {
	text := r.text(a)
	if err := t.keep(AgentIdentity(a.ID), r.bytes()+costMessage+len(text)); err != nil {
		return err
	}
	if err := t.InsertRequest(r); err != nil {
		return err
	}
	t.record(Record{Principal: a.ID, Action: "ask", Resource: string(r.Action) + " " + r.Resource, Tool: r.Tool, Effect: access.Ask, Code: pathresolver.RuleAsk, PolicyHash: a.PolicyHash, RequestID: r.ID})
	t.Notify(requestTopic(r.ID))
	t.Notify(agentTopic(a.ID))
	t.Notify(agentTopic(r.ApproverID))
	return t.tell(Message{RecipientID: recipientOf(r.ApproverID), SenderID: a.ID, Type: TypePermissionRequest, Verb: VerbSend, Content: text})
}

// maxWait is how long a request of the agent may wait: the shortest max_wait among the
// layers of its policy; 0 where none sets one.
func (t *tx) maxWait(a Agent) (time.Duration, error) {
	p, err := t.b.hiredPolicy(t, a)
	if err != nil {
		return 0, err
	}
	least := time.Duration(0)
	for _, src := range p.Sources() {
		if ap := src.Document.Approvals; ap != nil && ap.MaxWait > 0 && (least == 0 || time.Duration(ap.MaxWait) < least) {
			least = time.Duration(ap.MaxWait)
		}
	}
	return least, nil
}
