package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// callSkill calls a file skill for an agent, beneath the agent's own policy. A
// write that the policy wants asked for waits for the manager before anything is
// touched, and then is done with one write path: the place that was granted. So
// what was approved lands, though the agent's view goes on refusing.
func (r *runner) callSkill(ctx context.Context, s brokerhttp.Skill) (string, error) {
	if err := r.outside(s.Agent.Cwd); err != nil {
		return "", err
	}
	held, err := s.Policy.Resolver(s.Agent.Cwd)
	if err != nil {
		return "", err
	}
	if held.NoView {
		return "", errors.New("the policy is the operator's own rights: no skill is called for it")
	}
	gate := r.b.Gate(broker.AgentIdentity(s.Agent.ID))
	text, err := callOnce(ctx, held.Config, gate, "", s)
	place, action := askedPlace(held.Config, err)
	if place == "" {
		return text, err
	}
	if d := gate.Check(ctx, permission.Request{Action: permission.ToolUse, Resource: s.Name, Tool: s.Name}); !d.Allowed() {
		return "", &broker.Error{Code: d.Code, Message: d.Text()}
	}
	d := gate.CheckCall(ctx, broker.Call{
		Request: permission.Request{Action: action, Resource: place, Tool: s.Name, MayBlock: true}, Input: s.Input,
	})
	if !d.Allowed() {
		return "", &broker.Error{Code: d.Code, Message: d.Text()}
	}
	granted := held.Config
	granted.WritePaths, granted.Git, granted.AskWrite = []string{place}, false, nil
	return callOnce(ctx, granted, gate, place, s)
}

// callOnce calls the skill beneath one configuration.
func callOnce(ctx context.Context, cfg pathresolver.Config, gate *broker.Gate, granted string, s brokerhttp.Skill) (string, error) {
	r, err := openPlace(cfg)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }() // holds descriptors, nothing to lose
	set, err := fileskills.New(fileskills.Config{Resolver: r, Gate: agentGate{gate: gate, resolver: r, granted: granted}})
	if err != nil {
		return "", err
	}
	res, err := set.Call(ctx, s.Name, json.RawMessage(s.Input))
	var refused *fileskills.Error
	switch {
	case errors.As(err, &refused):
		return "", &skillError{broker.Error{Code: broker.Code(refused.Code), Message: refused.Error()}, err}
	case err != nil:
		return "", err
	}
	return res.Text, nil
}

// skillError is a skill's refusal for the wire, with the resolver's behind it.
type skillError struct {
	refusal broker.Error
	cause   error
}

func (e *skillError) Error() string   { return e.refusal.Message }
func (e *skillError) Unwrap() []error { return []error{&e.refusal, e.cause} }

// askedPlace is the place whose change has to be asked for, where that is why a
// skill was refused; "" otherwise.
func askedPlace(cfg pathresolver.Config, err error) (string, permission.Action) {
	var denied *pathresolver.DeniedError
	if !errors.As(err, &denied) || denied.Rule != pathresolver.RuleAsk {
		return "", ""
	}
	action, ok := map[pathresolver.Op]permission.Action{
		pathresolver.OpWrite: permission.FSWrite, pathresolver.OpCreate: permission.FSCreate,
	}[denied.Op]
	if !ok {
		return "", ""
	}
	r, err := openPlace(cfg)
	if err != nil {
		return "", ""
	}
	defer func() { _ = r.Close() }() // likewise
	return r.Explain(denied.Op, denied.Path).Place, action
}

// agentGate puts a skill to the broker before it touches anything: whether the
// agent has it, and whether its paths allow this one. What was granted for this
// call is not asked for twice.
type agentGate struct {
	gate     *broker.Gate
	resolver *pathresolver.Resolver
	granted  string
}

var _ fileskills.Gate = agentGate{}

// Check asks about the place that the path leads to; see policyGate.
func (g agentGate) Check(ctx context.Context, r fileskills.Request) fileskills.Decision {
	d := g.gate.Check(ctx, permission.Request{Action: permission.ToolUse, Resource: r.Skill, Tool: r.Skill})
	if !d.Allowed() {
		return fileskills.Decision{Reason: d.Reason()}
	}
	place := g.resolver.Explain(opOf(r.Use.Action), r.Use.Path).Place
	if place == "" || place == g.granted {
		return fileskills.Decision{Allow: true} // the resolver says the rest
	}
	d = g.gate.Check(ctx, permission.Request{Action: permission.Action(r.Use.Action), Resource: place, Tool: r.Skill})
	return fileskills.Decision{Allow: d.Allowed() || isOnlyFiles(d.Code), Reason: d.Reason()}
}
