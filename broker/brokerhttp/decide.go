package brokerhttp

import (
	"context"
	"errors"
	"net/http"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/permission"
)

// DecideBody is a question about one thing that the caller is about to do.
type DecideBody struct {
	Action   access.Action   `json:"action"`
	Resource string          `json:"resource"`
	Also     []access.Access `json:"also,omitempty"` // the other things that the same call touches
	Tool     string          `json:"tool,omitempty"`
	Input    string          `json:"input,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Observed bool            `json:"observed,omitempty"` // Reason is what was seen of the call, not the agent's words

	// RequestID is the request that an earlier answer to this question named:
	// its end decides.
	RequestID string `json:"request_id,omitempty"`
	// Confirm asks for a yes to exactly this call also where the policy allows the
	// tool. What the policy denies stays denied.
	Confirm bool `json:"confirm,omitempty"`
	// Probe leaves no request where it has to be asked for.
	Probe bool `json:"probe,omitempty"`
	// Peek asks what would be answered, and does nothing: no grant is used up,
	// nothing is recorded, and nothing may be done because of it.
	Peek bool `json:"peek,omitempty"`
}

// whole refuses a question about names that would be others on the way: JSON has UTF-8
// alone.
func (b *DecideBody) whole() error {
	for _, a := range append([]access.Access{{Resource: b.Resource}}, b.Also...) {
		if !utf8.ValidString(a.Resource) {
			return fault(broker.CodeInvalid, "a name that is no UTF-8 cannot be asked for")
		}
	}
	return nil
}

// call is the question as the broker takes it.
func (b *DecideBody) call() access.Request {
	return access.Request{Action: b.Action, Resource: b.Resource, Also: b.Also, Tool: b.Tool, Confirm: b.Confirm, MayBlock: true,
		Input: []byte(b.Input), Reason: b.Reason, Observed: b.Observed,
	}
}

// Decided is the answer. With effect ask, RequestID is the pending request.
type Decided struct {
	Effect    access.Effect `json:"effect"`
	Code      access.Code   `json:"code"`
	Reason    string        `json:"reason"`         // one sentence, or what the manager said
	Text      string        `json:"text"`           // for the agent: the refusal of a file, as every surface words it
	Rule      string        `json:"rule,omitempty"` // that decided, as layer:path
	RequestID string        `json:"request_id,omitempty"`
	Timeout   int           `json:"timeout,omitempty"` // seconds that an allowed tool may take
	Denial    string        `json:"denial,omitempty"`  // of a peek: what the agent was told when this was denied
}

// Allowed reports whether it may be done now.
func (d Decided) Allowed() bool { return d.Effect == access.Allow }

// decide puts a question to the caller's policy, and to its manager where that
// is needed. A grant for one time is used up by an answer that allows.
func (c *call) decide() (any, error) {
	var body DecideBody
	if err := c.body(&body); err != nil {
		return nil, err
	}
	waiting, cancel, err := c.waiting(maxWait)
	if err != nil {
		return nil, err
	}
	defer cancel()
	ctx := c.Context()
	gate := c.s.b.Gate(c.who)
	question := body.call()
	if body.Peek {
		answer := decided(gate.Peek(ctx, question), "")
		if answer.Effect == access.Ask {
			answer.Denial, err = gate.Denied(ctx, question)
		}
		return answer, err
	}
	id := body.RequestID
	if id == "" {
		d := gate.Decide(ctx, question)
		if d.Effect != access.Ask || body.Probe {
			return decided(d, ""), nil
		}
		r, err := c.s.b.Ask(ctx, c.who, question)
		switch refused := (*broker.Error)(nil); {
		case errors.As(err, &refused) && refused.Code == permission.CodeAllowed: // it was approved meanwhile
			return decided(gate.Decide(ctx, question), ""), nil
		case errors.As(err, &refused):
			return decided(d.Refused(refused.Code, refused.Message), ""), nil
		case err != nil:
			return nil, err
		}
		if id = r.ID; r.Status == broker.Pending && c.URL.Query().Get("wait") == "" {
			return decided(d, id), nil
		}
	}
	if c.URL.Query().Get("wait") != "" {
		if _, err := c.s.b.Wait(waiting, c.who, id); err != nil && !c.timeIsUp(err) {
			return nil, err
		}
	}
	return decided(gate.Answered(ctx, question, id), id), nil
}

func decided(d access.Decision, request string) Decided {
	answer := Decided{Effect: d.Effect, Code: d.Code, Reason: d.Reason(), Text: d.Text(), Rule: d.Rule, Timeout: d.Timeout}
	if d.Effect == access.Ask {
		answer.RequestID = request
	}
	return answer
}

// Decide asks whether the caller may do something, and does not wait: where its
// manager has to be asked the effect is ask, and the answer names the request.
func (c *Client) Decide(ctx context.Context, body DecideBody) (d Decided, err error) {
	if err := body.whole(); err != nil {
		return d, err
	}
	return d, c.do(ctx, http.MethodPost, "/v1/decide", body, &d)
}

// DecideWaiting is Decide that waits for the manager's answer, also while the
// broker is started again. It ends with ctx; the request stays, and the same
// question again goes on with it.
func (c *Client) DecideWaiting(ctx context.Context, body DecideBody) (Decided, error) {
	body.Probe = false
	d, err := c.Decide(ctx, body)
	if err != nil || d.Effect != access.Ask || d.RequestID == "" {
		return d, err
	}
	body.RequestID = d.RequestID
	if _, err := c.Wait(ctx, d.RequestID); err != nil {
		return Decided{}, err
	}
	err = c.outlast(ctx, func() (bool, error) {
		d, err = c.Decide(ctx, body)
		return err == nil, err
	})
	return d, err
}
