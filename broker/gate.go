package broker

import (
	"context"
	"errors"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// Gate puts the calls of one agent to its policy, and what needs asking to its
// manager: refused, asked, once more. It only narrows what is done with its
// answer: what opens a file still decides by itself.
type Gate struct {
	b   *Broker
	who Identity
}

// Gate is the gate of the agent whose identity it is.
func (b *Broker) Gate(who Identity) *Gate { return &Gate{b, who} }

var _ access.Checker = (*Gate)(nil)

// Check decides about a request. Whatever its principal says, it is the gate's
// agent; its input, at most 256 KiB, and its reason are what the manager is shown. It blocks until the manager has answered if the request may block and
// has to be asked for, or until ctx is done; otherwise what has to be asked for
// is refused with CodeAsk, and a pending request is left behind, to be tried
// again once it is approved.
func (g *Gate) Check(ctx context.Context, c access.Request) access.Decision {
	d, err := g.decide(ctx, &c)
	if err != nil {
		return g.failed(d, &c, err)
	}
	if d.Effect != access.Ask {
		return d
	}
	r, err := g.b.Ask(ctx, g.who, c)
	if err == nil && c.MayBlock {
		r, err = g.b.Wait(ctx, g.who, r.ID)
	}
	if approvedMeanwhile(err) {
		err = nil
	} else if code, reason := r.refusal(); err == nil && code != "" {
		return d.Refused(code, reason)
	}
	if err != nil {
		return g.failed(d, &c, err)
	}
	if d, err = g.decide(ctx, &c); err != nil {
		return g.failed(d, &c, err)
	}
	if d.Effect == access.Ask { // what was approved was used by the same call elsewhere, or withdrawn
		return d.Refused(pathresolver.RuleAsk, d.Reason())
	}
	return d
}

// decide answers from the agent's policy, and records all but what is plainly
// allowed to be read.
func (g *Gate) decide(ctx context.Context, c *access.Request) (d access.Decision, err error) {
	if tooMuch(c) {
		return d, tooManyPlaces()
	}
	granted := false // by leave that lasts
	err = g.b.view(ctx, func(tx ReadTx) error {
		a, err := live(tx, g.who)
		if err != nil {
			return err
		}
		p, err := g.b.hiredPolicy(tx, a)
		if err != nil {
			return err
		}
		req := *c
		req.Principal, req.ArgsDigest = a.ID, digestOf(c)
		d = permission.Enforcer{Policy: p, Registry: kin{tx, a.ID}}.Check(ctx, req)
		if granted = false; d.Effect == access.Ask {
			now, err := g.b.check(ctx, tx, a, req, clock(time.Now()))
			granted = now.Allowed()
			return err
		}
		return nil
	})
	switch {
	case err != nil:
		return d, err
	case d.Allowed() && isRead(c.Action) && len(c.Also) == 0 && !g.b.reads:
		return d, nil
	case !d.Allowed() && !granted && !g.b.attempts.admit(g.who):
		return d, tooOften() // what is allowed costs the agent more than it costs us
	}
	err = g.b.update(ctx, func(t *tx) error {
		a, err := live(t, g.who)
		if err != nil {
			return err
		}
		d, err = t.permit(ctx, a, c)
		return err
	})
	return d, err
}

func isRead(a access.Action) bool { return a == access.FSRead || a == access.FSList }

// failed is the refusal where nothing could be decided.
func (g *Gate) failed(d access.Decision, c *access.Request, err error) access.Decision {
	d.Access = access.Access{Action: c.Action, Resource: c.Resource}
	d.Principal, d.Tool = g.who.agent, c.Tool
	var refusal *Error
	if errors.As(err, &refusal) {
		return d.Refused(refusal.Code, refusal.Message)
	}
	return d.Refused(codeRequestFailed, "the wait for an answer ended: "+err.Error())
}
