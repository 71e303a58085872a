package brokerhttp

import (
	"context"
	"errors"

	"github.com/pinfold-dev/pinfold/broker"
)

// sameCaller holds that a caller_id that was sent is the connection's own:
// it proves nothing, and another one is a mistake or a forgery.
func (c *call) sameCaller(verb, id string) error {
	if id != "" && id != c.who.String() {
		return c.forged(verb, c.PathValue("id"), fault(broker.CodeNotManager, "Only the agent's manager can approve"))
	}
	return nil
}

func (c *call) approve() (any, error) {
	var body ApproveBody
	if err := c.body(&body); err != nil {
		return nil, err
	}
	if err := c.sameCaller("approve", body.CallerID); err != nil {
		return nil, err
	}
	if body.Scope == "" {
		body.Scope = broker.Once
	}
	r, err := c.s.b.Approve(c.Context(), c.who, c.PathValue("id"), broker.Answer{Scope: body.Scope, Until: body.Until, Digest: body.Digest})
	if err != nil {
		return nil, err
	}
	return Resolved{Approved: true, SessionID: r.AgentID, ToolName: r.ToolName()}, nil
}

func (c *call) deny() (any, error) {
	var body DenyBody
	if err := c.body(&body); err != nil {
		return nil, err
	}
	if err := c.sameCaller("deny", body.CallerID); err != nil {
		return nil, err
	}
	r, err := c.s.b.Deny(c.Context(), c.who, c.PathValue("id"), body.Reason)
	if err != nil {
		return nil, err
	}
	return Resolved{Denied: true, SessionID: r.AgentID, ToolName: r.ToolName()}, nil
}

func (c *call) ask() (any, error) {
	var body askBody
	if err := c.body(&body); err != nil {
		return nil, err
	}
	question := DecideBody{Action: body.Action, Resource: body.Resource, Also: body.Also, Tool: body.Tool, Input: body.Input, Reason: body.Reason, Observed: body.Observed}
	return c.s.b.Ask(c.Context(), c.who, question.call())
}

func (c *call) request() (any, error) {
	ctx, cancel, err := c.waiting(maxWait)
	if err != nil {
		return nil, err
	}
	defer cancel()
	id := c.PathValue("id")
	r, err := c.s.b.Wait(ctx, c.who, id)
	if c.timeIsUp(err) {
		return c.s.b.Request(c.Context(), c.who, id)
	}
	return r, err
}

// timeIsUp says whether a long poll has ended without its caller or the server
// being gone: then the present state is the answer.
func (c *call) timeIsUp(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) && c.Context().Err() == nil
}

func (c *call) requests() (any, error) {
	if begin := c.URL.Query().Get("begin"); begin != "" {
		return briefList(c.s.b.FindRequests(c.Context(), c.who, begin))
	}
	return briefList(c.s.b.Requests(c.Context(), c.who))
}

func (c *call) grants() (any, error) {
	rows, err := c.s.b.Grants(c.Context(), c.who)
	return briefList(rows, err)
}

// briefList is a list of requests that says where it was cut.
func briefList(rows []broker.Request, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	page := briefRequests(rows)
	return List[broker.Request]{Items: append([]broker.Request{}, page...), More: len(page) < len(rows)}, nil
}

func (c *call) revoke() (any, error) {
	return c.s.b.Revoke(c.Context(), c.who, c.PathValue("id"))
}

// list is an answer that is a list: none is an empty one.
func list[T any](items []T, err error) (any, error) {
	if items == nil {
		items = []T{}
	}
	return List[T]{Items: items}, err
}
