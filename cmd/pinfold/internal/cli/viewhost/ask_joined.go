package viewhost

import (
	"context"
	"errors"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/permission"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// maxJoinedWaits is how many opens of a joined run wait at a time: each holds
// a connection, and the broker bounds those of one agent. The next ones are
// refused at once, and leave a request behind.
const maxJoinedWaits = 40

// Joined asks a broker in another process, as the agent.
type Joined struct {
	c      *brokerhttp.Client
	grants *Grants
	turn   chan struct{}
}

var _ sandboxfs.Asker = (*Joined)(nil)

// NewJoinedAsker asks as the agent whose client c is; grants is what that was
// granted, which the caller keeps up to date.
func NewJoinedAsker(c *brokerhttp.Client, grants *Grants) *Joined {
	return &Joined{c: c, grants: grants, turn: make(chan struct{}, maxJoinedWaits)}
}

// Ask decides now, or waits for the manager where the view lets it.
func (j *Joined) Ask(ctx context.Context, q sandboxfs.AskRequest) error {
	decide := j.c.Decide
	if q.Wait {
		select {
		case j.turn <- struct{}{}:
			defer func() { <-j.turn }()
			decide = j.c.DecideWaiting
		default:
		}
	}
	d, err := decide(ctx, questionOf(q))
	switch {
	case err != nil:
		return err
	case d.Allowed():
		return nil
	}
	return errors.New(d.Reason)
}

// Record leaves a request behind. That it is granted already is no failure.
func (j *Joined) Record(ctx context.Context, q sandboxfs.AskRequest) error {
	d := questionOf(q)
	_, err := j.c.Ask(ctx, brokerhttp.AskBody{Action: d.Action, Resource: d.Resource, Also: d.Also, Reason: d.Reason, Observed: d.Observed})
	var refused *broker.Error
	if errors.As(err, &refused) && refused.Code == permission.CodeAllowed {
		return nil
	}
	return err
}

// Granted says from memory whether a may have been granted.
func (j *Joined) Granted(a access.Access) bool { return j.grants.cover(a.Resource) }

// questionOf is what a view asks, for the wire.
func questionOf(q sandboxfs.AskRequest) brokerhttp.DecideBody {
	c := viewCall(q)
	d := brokerhttp.DecideBody{Action: c.Action, Resource: c.Resource, Reason: c.Reason, Observed: c.Observed}
	for _, a := range c.Also {
		d.Also = append(d.Also, brokerhttp.AccessBody(a))
	}
	return d
}
