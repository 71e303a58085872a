package permission

import (
	"context"

	"github.com/pinfold-dev/pinfold/access"
)

// Enforcer is a policy together with the registry that knows how agents are related.
// Without a registry no agent has a parent. It is safe for use by many goroutines.
type Enforcer struct {
	Policy   *Policy
	Registry Registry
}

// Registry knows the agents there are. It is implemented by the program that runs
// them, and answers from that program's records, never from a request.
type Registry interface {
	// Parent returns the id of an agent's parent, "" for one that has none or
	// is not known. It must not block.
	Parent(id string) string
}

// Check decides about a request; it has no effect. It needs about a
// microsecond, whatever the number of rules, and allocates nothing for names
// in ASCII.
func (e Enforcer) Check(_ context.Context, req access.Request) access.Decision {
	return e.decide(req, nil)
}

// Check is Enforcer.Check without a registry.
func (p *Policy) Check(_ context.Context, req access.Request) access.Decision {
	return Enforcer{Policy: p}.decide(req, nil)
}
