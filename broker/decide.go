package broker

import (
	"context"

	"github.com/pinfold-dev/pinfold/permission"
)

// Decide answers from the agent's policy and what was granted to it, and asks
// nobody: what has to be asked for is refused as CodeAsk, with effect Ask, and
// leaves no request. A grant for one time that covers the call is used up by
// it.
func (g *Gate) Decide(ctx context.Context, c Call) permission.Decision {
	if len(c.Also) > maxAlso { // each costs, and more could not be asked for
		return g.failed(permission.Decision{}, &c, tooManyPlaces())
	}
	d, err := g.decide(ctx, &c)
	if err != nil {
		return g.failed(d, &c, err)
	}
	return d
}

// Answered decides about a call for which a request was made before: by its
// end, where the policy still wants to be asked. A refusal then is the
// manager's, or why nobody answered (D14); one that nobody has answered yet has
// effect Ask still. The request must be the agent's own and about this very
// call (D6).
func (g *Gate) Answered(ctx context.Context, c Call, id string) permission.Decision {
	r, err := g.b.Request(ctx, g.who, id)
	switch {
	case err == nil && r.AgentID != g.who.agent:
		err = noApproval(id)
	case err == nil && r.Digest != c.digest():
		err = refuse(CodeMismatch, "request %s is about something else", r.ID)
	}
	if err != nil {
		return g.failed(permission.Decision{}, &c, err)
	}
	d := g.Decide(ctx, c)
	if d.Effect != permission.Ask || r.Status == Pending {
		return d
	}
	if code, reason := r.refusal(); code != "" {
		return d.Refused(code, reason)
	}
	return d.Refused(permission.CodeAsk, d.Reason()) // it was used by the same call elsewhere, or withdrawn
}
