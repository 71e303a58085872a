package brokerhttp

import (
	"encoding/json"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/permission"
)

// Skill is a file skill to be called for an agent.
type Skill struct {
	Agent  broker.Agent
	Policy *permission.Policy // what it was hired with
	Name   string
	Input  []byte // the arguments as JSON
}

// skillBody has a skill's arguments.
type skillBody struct {
	Input json.RawMessage `json:"input"`
}

// SkillResult is what a skill says.
type SkillResult struct {
	Text  string          `json:"text"`
	Meta  json.RawMessage `json:"meta,omitempty"` // a fileskills.Meta
	Parts []SkillPart     `json:"parts,omitempty"`
}

// SkillPart is content that is not text.
type SkillPart struct {
	MIMEType string `json:"mime_type"`
	Data     []byte `json:"data"`
}

// skill calls a file skill as the caller, who waits where its manager has to be
// asked. What it asked for stays when it stops waiting: the same call again goes
// on from there.
func (c *call) skill() (any, error) {
	var body skillBody
	if err := c.body(&body); err != nil {
		return nil, err
	}
	if c.s.opt.Skill == nil {
		return nil, fault(broker.CodeInvalid, "this broker calls no skills")
	}
	agent, policy, err := c.self()
	if err != nil {
		return nil, err
	}
	if len(body.Input) == 0 {
		body.Input = json.RawMessage("{}")
	}
	c.takesLong(maxAwait)
	res, err := c.s.opt.Skill(c.Context(), Skill{Agent: agent, Policy: policy, Name: c.PathValue("id"), Input: body.Input})
	if err != nil {
		return nil, asRefusal(err)
	}
	return res, nil
}
