package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/fileskills"
)

// callSkill calls a file skill for an agent, beneath the agent's own policy.
// What the policy wants asked for waits for the manager before anything is
// touched, and then is done with leave for that place alone. So what was
// approved lands, whatever the agent's view shows.
func (r *runner) callSkill(ctx context.Context, s brokerhttp.Skill) (brokerhttp.SkillResult, error) {
	if err := outsideProject(r.dir, s.Agent.Cwd); err != nil {
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
