package nexus

import (
	"context"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/permission"
)

// permits reports whether a policy lets an agent use a tool at all: on anybody.
func permits(p *permission.Policy, agent string, t tool) bool {
	if !t.aimed {
		return may(permission.Enforcer{Policy: p}.Check(context.Background(), access.Request{Principal: agent, Action: t.action, Tool: t.name}))
	}
	for _, k := range []kin{{parent: true}, {child: true}, {sibling: true}, {}} {
		k.agent = agent
		// The target that a rule may name is not known: a refusal because it
		// names others is leave for those.
		d := permission.Enforcer{Policy: p, Registry: k}.Check(context.Background(), access.Request{Principal: agent, Action: t.action, Resource: somebody, Tool: t.name})
		if may(d) || d.Code == permission.CodeTargetNotListed || d.Code == permission.CodeCrossSend {
			return true
		}
	}
	return false
}

func may(d access.Decision) bool { return d.Effect != access.Deny }

// somebody is the agent that stands for all.
const somebody = "somebody"

// kin is a family in which somebody is one thing to the agent.
type kin struct {
	agent                  string
	parent, child, sibling bool
}

// Parent is permission.Registry's.
func (k kin) Parent(id string) string {
	switch {
	case id == k.agent && k.parent:
		return somebody
	case id == somebody && k.child:
		return k.agent
	case k.sibling && (id == k.agent || id == somebody):
		return "both"
	}
	return ""
}
