package broker

import (
	"context"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Decide answers from the agent's policy and what was granted to it, and asks
// nobody: what has to be asked for is refused as CodeAsk, with effect Ask, and
// leaves no request. A grant for one time that covers the call is used up by
// it.
func (g *Gate) Decide(ctx context.Context, c access.Request) access.Decision {
	d, err := g.decide(ctx, &c)
	if err != nil {
		return g.failed(d, &c, err)
	}
	return d
}

// Peek says what Decide would answer now, and does nothing: no grant for one time
// is used up, and nothing is recorded. So nothing may be done because of it.
func (g *Gate) Peek(ctx context.Context, c access.Request) access.Decision {
	if tooMuch(&c) {
		return g.failed(access.Decision{}, &c, tooManyPlaces())
	}
	if !g.b.attempts.admit(g.who) {
		return g.failed(access.Decision{}, &c, tooOften())
	}
	var d access.Decision
	err := g.b.view(ctx, func(tx ReadTx) error {
		a, err := live(tx, g.who)
		if err != nil {
			return err
		}
		now, req := clock(time.Now()), c
		req.Principal, req.ArgsDigest = a.ID, digestOf(&c)
		if d, err = g.b.check(ctx, tx, a, req, now); err == nil && d.Effect == access.Ask {
			d, _, err = g.b.once(ctx, tx, a, req, now)
		}
		return err
	})
	if err != nil {
		return g.failed(d, &c, err)
	}
	return d
}

// Denied is what the agent was told when exactly this call was last answered, if
// that was a denial; otherwise "". Like Peek it does nothing.
func (g *Gate) Denied(ctx context.Context, c access.Request) (string, error) {
	if !g.b.attempts.admit(g.who) {
		return "", tooOften()
	}
	var last Request
	err := g.b.view(ctx, func(tx ReadTx) error {
		a, err := live(tx, g.who)
		if err != nil {
			return err
		}
		answered := []Status{Approved, Consumed, Active, Revoked, Denied}
		rows, err := tx.Requests(RequestFilter{AgentID: a.ID, Digest: digestOf(&c), Statuses: answered, Newest: true, Limit: 1})
		if len(rows) > 0 {
			last = rows[0]
		}
		return err
	})
	if err != nil || last.Status != Denied {
		return "", err
	}
	return last.Denial(), nil
}

// Answered decides about a call for which a request was made before: by its
// end, where the policy still wants to be asked. A refusal then is the
// manager's, or why nobody answered; one that nobody has answered yet has
// effect Ask still. The request must be the agent's own and about this very
// call.
func (g *Gate) Answered(ctx context.Context, c access.Request, id string) access.Decision {
	r, err := g.b.Request(ctx, g.who, id)
	switch {
	case err == nil && r.AgentID != g.who.agent:
		err = noApproval(id)
	case err == nil && r.Digest != digestOf(&c):
		err = refuse(CodeMismatch, "request %s is about something else", r.ID)
	}
	if err != nil {
		return g.failed(access.Decision{}, &c, err)
	}
	d := g.Decide(ctx, c)
	if d.Effect != access.Ask || r.Status == Pending {
		return d
	}
	if code, reason := r.refusal(); code != "" {
		return d.Refused(code, reason)
	}
	return d.Refused(pathresolver.RuleAsk, d.Reason()) // it was used by the same call elsewhere, or withdrawn
}
