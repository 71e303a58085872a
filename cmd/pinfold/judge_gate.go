package main

import (
	"context"
	"encoding/json"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/permission"
)

// gateJudge has a broker's gate for a judge.
type gateJudge struct{ gate *broker.Gate }

func (g gateJudge) judge(ctx context.Context, q question, input json.RawMessage) verdict {
	d := g.gate.CheckCall(ctx, q.call(input))
	return verdict{allowed: d.Allowed(), code: d.Code, reason: d.Reason(), text: d.Text()}
}

func (g gateJudge) note(ctx context.Context, q question, input json.RawMessage) {
	_ = g.gate.Decide(ctx, q.call(input)) // the refusal is the rules'
}

// call is the question as a broker takes it.
func (q question) call(input json.RawMessage) broker.Call {
	return broker.Call{
		Request: permission.Request{Action: q.action, Resource: q.place, Tool: q.tool, MayBlock: true},
		Input:   askedInput(input),
	}
}
