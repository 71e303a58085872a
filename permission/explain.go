package permission

import "github.com/pinfold-dev/pinfold/access"

// Step is what one layer said in one stage of a decision.
type Step struct {
	Stage  string          `json:"stage"`  // tool, action, target, cross_send, outside, read, write, tool paths
	Access access.Access   `json:"-"`      // about which access
	Layer  string          `json:"layer"`  // "" for what holds where nobody speaks
	Effect access.Effect   `json:"effect"` // "" if the layer says nothing
	Code   access.Code     `json:"code,omitempty"`
	Rule   string          `json:"rule,omitempty"`
	Source access.Position `json:"source"`
}

// Explanation is a decision with the way to it.
type Explanation struct {
	Decision access.Decision
	Steps    []Step // in the order in which the layers were asked
}

// Explain decides as Check does, and tells what every layer said, up to the first that
// refused. It has no effect.
func (e Enforcer) Explain(req access.Request) Explanation {
	steps := []Step{}
	d := e.decide(req, &steps)
	return Explanation{Decision: d, Steps: steps}
}

func stepOf(s stage, q *question, layer string, f finding) Step {
	step := Step{Stage: s.String(), Access: q.Access, Layer: layer, Code: f.code}
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
