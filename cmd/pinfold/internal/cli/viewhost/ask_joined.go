package viewhost

import (
	"context"
	"errors"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/permission"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// watchAgain is how soon a broker that is away is looked for again.
const watchAgain = 500 * time.Millisecond

// Joined asks a broker in another process, as an agent.
type Joined struct {
	c      *brokerhttp.Client
	agent  string
	grants grants
	turn   chan struct{} // room for each open that waits
}

var _ sandboxfs.Asker = (*Joined)(nil)

// NewJoined asks as the agent whose client c is. At most waits opens wait for an
// answer at a time: the next ones are refused at once, and leave a request behind.
func NewJoined(c *brokerhttp.Client, agent string, waits int) *Joined {
	return &Joined{c: c, agent: agent, turn: make(chan struct{}, waits)}
}

// Watch remembers what the agent is granted, and calls interrupted when it was
// interrupted, until it is no agent any more or ctx ends. It goes on where the
// broker was away.
func (j *Joined) Watch(ctx context.Context, interrupted func()) {
	var seen int64
	for {
		looking, stop := context.WithCancel(ctx)
		gone := false
		_ = j.c.Watch(looking, func() { // why it ends does not matter
			if gone = !j.look(looking, &seen, interrupted); gone {
				stop()
			}
		})
		stop()
		if gone {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(watchAgain):
		}
	}
}

// look says whether the agent still exists: it does not after it was fired.
func (j *Joined) look(ctx context.Context, seen *int64, interrupted func()) bool {
	a, err := j.c.Agent(ctx, j.agent)
	var refused *broker.Error
	if err != nil {
		return !errors.As(err, &refused) || refused.Code == broker.CodeUnavailable
	}
	if a.Interrupts > *seen {
		*seen = a.Interrupts
		interrupted()
	}
	if rows, err := j.c.Grants(ctx); err == nil {
		j.grants.set(j.agent, rows)
	}
	return !a.State.Ended()
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

// Record leaves a request behind, unless it is granted already.
func (j *Joined) Record(ctx context.Context, q sandboxfs.AskRequest) error {
	_, err := j.c.Ask(ctx, questionOf(q))
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
	return brokerhttp.DecideBody{Action: c.Action, Resource: c.Resource, Also: c.Also, Reason: c.Reason, Observed: c.Observed}
}
