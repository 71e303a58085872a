package broker

import (
	"context"
	"errors"
	"time"

	"github.com/pinfold-dev/pinfold/access"
)

// over reports whether the agent's time is over: from then on it is nobody, whether or not
// it was fired yet.
func (a *Agent) over(now time.Time) bool { return !a.Until.IsZero() && !now.Before(a.Until) }

// endOver fires the agents whose time is over, each with all beneath it. That they are
// nobody any more does not rest on it: it ends their processes, and tells their managers.
func (b *Broker) endOver(ctx context.Context) error {
	due := AgentFilter{Due: clock(time.Now()), Present: true, Limit: recordPage}
	var list []Agent
	if err := b.view(ctx, func(tx ReadTx) (err error) {
		list, err = tx.Agents(due)
		return err
	}); err != nil || len(list) == 0 {
		return err
	}
	return b.update(ctx, func(t *tx) error {
		for _, a := range list {
			a, err := t.Agent(a.ID)
			if err == nil && (a.State == Fired || !a.over(t.now)) {
				continue
			}
			if err != nil {
				return err
			}
			t.record(Record{Action: "expire", Resource: a.ID, Effect: access.Deny, Code: codeExpired, Reason: "the time for which it was hired is over", PolicyHash: a.PolicyHash})
			tree, _, err := t.tree(a)
			for i := range tree {
				if err == nil {
					err = t.fire(Identity{}, &tree[i])
				}
			}
			if err == nil {
				err = t.notifyEnd(tree[len(tree)-1])
			}
			if err != nil && !errors.Is(err, ErrConflict) {
				return err
			}
		}
		return nil
	})
}

// checkUntil refuses a time that is over already.
func (s *HireSpec) checkUntil(now time.Time) error {
	if !s.Until.IsZero() && !now.Before(s.Until) {
		return refuse(CodeInvalid, "the time for which the agent is hired is over already: %s", s.Until.Format(time.RFC3339))
	}
	return nil
}
