package brokerhost

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/gitbeside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/skillask"
	"github.com/pinfold-dev/pinfold/fileskills"
)

// CallSkill calls a file skill for an agent, under the agent's own policy. What the
// policy wants asked for waits for the manager before anything is touched, and is then
// done with a grant for that place alone. So what was approved is done, whatever the
// agent's view shows.
func (r *Runner) CallSkill(ctx context.Context, s brokerhttp.Skill) (brokerhttp.SkillResult, error) {
	if err := OutsideProject(r.dir, s.Agent.Cwd); err != nil {
		return brokerhttp.SkillResult{}, err
	}
	held, err := s.Policy.Resolver(s.Agent.Cwd)
	if err != nil {
		return brokerhttp.SkillResult{}, err
	}
	if held.NoView {
		return brokerhttp.SkillResult{}, errors.New("the policy is the operator's own rights: no skill is called for it")
	}
	beside, err := gitbeside.Find(&held.Config, "") // which no skill writes
	if err != nil {
		return brokerhttp.SkillResult{}, err
	}
	defer beside.Close()
	at, err := OpenDir(held.Config)
	if err != nil {
		return brokerhttp.SkillResult{}, err
	}
	defer func() { _ = at.Close() }() // holds descriptors, nothing to lose
	gate := skillask.BrokerJudge{Gate: r.b.Gate(broker.AgentIdentity(s.Agent.ID))}
	set, err := fileskills.New(fileskills.Config{Resolver: at, GateGrants: true, Gate: skillask.JudgedGate{Judge: gate, Same: true}})
	if err != nil {
		return brokerhttp.SkillResult{}, err
	}
	skills := &skillask.Skills{Set: set, Judge: gate}
	res, err := skills.Call(ctx, s.Name, json.RawMessage(s.Input))
	if err != nil {
		return brokerhttp.SkillResult{}, skillask.AsBrokerError(err)
	}
	return skillask.ResultOnWire(res)
}
