package permission

import (
	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/policies"
)

// Explain decides as Enforcer.Check does, and tells what every layer said, in the
// order in which they were asked, up to the first that refused. It has no effect.
func (p inside) Explain(r Registry, req access.Request) (access.Decision, []policies.Step) {
	steps := []policies.Step{}
	return Enforcer{p.Policy, r}.decide(req, &steps), steps
}

func stepOf(s stage, q *question, layer string, f finding) policies.Step {
	step := policies.Step{Stage: s.String(), Access: q.Access, Layer: layer, Code: f.code}
	if f.opinion != silent {
		step.Effect = f.effect()
	} else {
		step.Code = ""
	}
	if f.rule != nil && f.opinion != silent {
		step.Rule, step.Source = f.rule.id, f.rule.at
	}
	return step
}
