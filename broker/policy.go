package broker

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/permission"
)

// Policy is what an agent was hired with, without what was granted since: for
// whoever starts its process. It asks for no identity, so no transport offers
// it to agents.
func (b *Broker) Policy(ctx context.Context, id string) (*permission.Policy, error) {
	var p *permission.Policy
	err := b.view(ctx, func(tx ReadTx) error {
		a, err := tx.Agent(id)
		if errors.Is(err, ErrNotFound) {
			return noSession(id)
		}
		if err == nil {
			p, err = b.hiredPolicy(tx, a)
		}
		return err
	})
	return p, err
}

// sourceName is how a document is called: by its name, or else by its file's.
func sourceName(src *permission.Source) string {
	if src.Document.Name != "" {
		return src.Document.Name
	}
	base := path.Base(src.File)
	return strings.TrimSuffix(base, path.Ext(base))
}

// held says in a record which policy an agent is held to; its hash stands beside it.
func held(p *permission.Policy) string {
	text := "policy '" + p.Name() + "'"
	if slices.ContainsFunc(p.Sources(), func(src *permission.Source) bool { return src.Document.OperatorOnly }) {
		text += ", the operator's own rights"
	}
	return text
}

// hiredPolicy is the policy that the agent was hired with, under the send ACL
// that was set since.
func (b *Broker) hiredPolicy(tx ReadTx, a Agent) (*permission.Policy, error) {
	if a.CrossSend == nil {
		return b.policies.get(a.PolicyHash, func() (*permission.Policy, error) {
			data, err := tx.Policy(a.PolicyHash)
			if err != nil {
				return nil, err
			}
			return permission.DecodePolicy(data)
		})
	}
	return b.policies.get(a.PolicyHash+string(jsonOf(a.CrossSend)), func() (*permission.Policy, error) {
		hired := a
		hired.CrossSend = nil
		p, err := b.hiredPolicy(tx, hired)
		if err != nil {
			return nil, err
		}
		src, err := permission.FromDocument(crossSource+" "+a.ID, permission.Document{Version: 1, Name: "cross", CrossSend: a.CrossSend})
		if err != nil {
			return nil, err
		}
		p, _, err = p.Narrow(src, permission.Clamp)
		return p, err
	})
}

// effective is what the agent may do now: what it was hired with and what was
// granted to it, each grant within what its manager may do now. more are grants
// beside those that are active.
func (b *Broker) effective(tx ReadTx, a Agent, now time.Time, more ...Request) (*permission.Policy, error) {
	p, err := b.hiredPolicy(tx, a)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Requests(RequestFilter{AgentID: a.ID, Statuses: []Status{Active}})
	if err != nil || len(rows)+len(more) == 0 {
		return p, err
	}
	var within *permission.Policy
	var at string
	if a.ParentID != "" {
		parent, err := tx.Agent(a.ParentID)
		if err != nil {
			return nil, err
		}
		if within, err = b.effective(tx, parent, now); err != nil {
			return nil, err
		}
		if at, err = placeIn(parent, a); err != nil {
			return nil, err
		}
	}
	var grants []permission.Grant
	for _, r := range append(rows, more...) {
		if r.ApproverID == a.ParentID && (r.Until.IsZero() || now.Before(r.Until)) {
			grants = append(grants, r.grant(within, at))
		}
	}
	return p.Granting(grants...), nil
}

// placeIn is where an agent works in its manager's project: "" where it is the same
// directory. An agent without a place there is the operator's to have made.
func placeIn(manager, a Agent) (string, error) {
	if a.Cwd == manager.Cwd {
		return "", nil
	}
	rel, err := filepath.Rel(manager.Cwd, a.Cwd)
	if err != nil || !filepath.IsLocal(rel) {
		return "", refuse(CodeInvalid, "the directory %q does not lie in the manager's, %q: a child works there or beneath it", shown(a.Cwd, maxShown), shown(manager.Cwd, maxShown))
	}
	return filepath.ToSlash(rel), nil
}

// kin answers who is whose parent from rows: permission.Registry for one
// transaction. An error leaves an agent without a parent, which refuses.
type kin struct {
	tx  ReadTx
	who string // the agent that is asked for
}

// Parent returns the parent of an agent whose row is there. The operator is the parent of
// the agents that it has hired as far as they aim at it, but does not make them siblings:
// nobody has put them together.
func (k kin) Parent(id string) string {
	if id == "" {
		return ""
	}
	a, err := k.tx.Agent(id)
	if err != nil {
		return ""
	}
	if id == k.who {
		return recipientOf(a.ParentID)
	}
	return a.ParentID
}

// check puts a request to the agent's effective policy. The grants are asked
// for only where something has to be asked for.
func (b *Broker) check(ctx context.Context, tx ReadTx, a Agent, req access.Request, now time.Time) (access.Decision, error) {
	req.Principal = a.ID
	p, err := b.hiredPolicy(tx, a)
	if err != nil {
		return access.Decision{}, err
	}
	d := permission.Enforcer{Policy: p, Registry: kin{tx, a.ID}}.Check(ctx, req)
	if d.Effect != access.Ask {
		return d, nil
	}
	if p, err = b.effective(tx, a, now); err != nil {
		return access.Decision{}, err
	}
	return permission.Enforcer{Policy: p, Registry: kin{tx, a.ID}}.Check(ctx, req), nil
}
