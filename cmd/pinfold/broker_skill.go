package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/permission"
)

// callSkill calls a file skill for an agent, beneath the agent's own policy.
// What the policy wants asked for waits for the manager before anything is
// touched, and then is done with leave for that place alone. So what was
// approved lands, whatever the agent's view shows.
func (r *runner) callSkill(ctx context.Context, s brokerhttp.Skill) (brokerhttp.SkillResult, error) {
	if err := r.outside(s.Agent.Cwd); err != nil {
		return brokerhttp.SkillResult{}, err
	}
	held, err := s.Policy.Resolver(s.Agent.Cwd)
	if err != nil {
		return brokerhttp.SkillResult{}, err
	}
	if held.NoView {
		return brokerhttp.SkillResult{}, errors.New("the policy is the operator's own rights: no skill is called for it")
	}
	at, err := openPlace(held.Config)
	if err != nil {
		return brokerhttp.SkillResult{}, err
	}
	defer func() { _ = at.Close() }() // holds descriptors, nothing to lose
	gate := gateJudge{r.b.Gate(broker.AgentIdentity(s.Agent.ID))}
	set, err := fileskills.New(fileskills.Config{Resolver: at, Gate: judgeGate{gate, at, true}})
	if err != nil {
		return brokerhttp.SkillResult{}, err
	}
	skills := &askedSkills{set: set, cfg: held.Config, open: openPlace, over: at, judge: gate}
	res, err := skills.Call(ctx, s.Name, json.RawMessage(s.Input))
	if err != nil {
		return brokerhttp.SkillResult{}, asBrokerError(err)
	}
	return resultOnWire(res)
}

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

// resultOnWire is what a skill says, for the wire.
func resultOnWire(res *fileskills.Result) (brokerhttp.SkillResult, error) {
	meta, err := json.Marshal(res.Meta)
	if err != nil {
		return brokerhttp.SkillResult{}, err
	}
	out := brokerhttp.SkillResult{Text: res.Text, Meta: meta}
	for _, p := range res.Parts {
		out.Parts = append(out.Parts, brokerhttp.SkillPart{MIMEType: p.MIMEType, Data: p.Data})
	}
	return out, nil
}

// resultFromWire is resultOnWire backwards.
func resultFromWire(r brokerhttp.SkillResult) (*fileskills.Result, error) {
	res := &fileskills.Result{Text: r.Text}
	if len(r.Meta) > 0 {
		if err := json.Unmarshal(r.Meta, &res.Meta); err != nil {
			return nil, err
		}
	}
	for _, p := range r.Parts {
		res.Parts = append(res.Parts, fileskills.Part{MIMEType: p.MIMEType, Data: p.Data})
	}
	return res, nil
}

// asBrokerError is a skill's refusal for the wire.
func asBrokerError(err error) error {
	var refused *fileskills.Error
	if errors.As(err, &refused) {
		return &broker.Error{Code: broker.Code(refused.Code), Message: refused.Error()}
	}
	return err
}

// asSkillError is a broker's refusal as a skill's.
func asSkillError(err error) error {
	var refused *broker.Error
	if errors.As(err, &refused) {
		return &fileskills.Error{Code: fileskills.Code(refused.Code), Message: refused.Message}
	}
	return err
}
