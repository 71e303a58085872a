package skillask

import (
	"context"
	"encoding/json"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

// BrokerJudge has a broker's gate for a judge.
type BrokerJudge struct{ Gate *broker.Gate }

// Decide asks the broker, which may wait for the manager.
func (g BrokerJudge) Decide(ctx context.Context, q Question, input json.RawMessage) Verdict {
	d := g.Gate.Check(ctx, q.call(input))
	return Verdict{Allowed: d.Allowed(), Code: d.Code, Reason: d.Reason(), Text: d.Text()}
}

// Note records what the rules refuse.
func (g BrokerJudge) Note(ctx context.Context, q Question, input json.RawMessage) {
	_ = g.Gate.Decide(ctx, q.call(input)) // the refusal is the rules'
}

// call is the question as a broker takes it.
func (q Question) call(input json.RawMessage) access.Request {
	return access.Request{Action: q.Action, Resource: q.Place, Tool: q.Tool, MayBlock: true,
		Input: Input(input),
	}
}
