package broker

import (
	"context"
	"errors"

	"github.com/pinfold-dev/pinfold/access"
)

// Seen is what an agent may know of another one by nexus_status. Exit is of one
// beneath the caller that has ended; nil otherwise.
type Seen struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	State   State  `json:"state"`
	Exit    *Exit  `json:"exit,omitempty"`
}

// StatusOf is what the tool nexus_status answers, if the caller's policy lets it
// look at that agent; it waits for the manager where the policy wants that asked
// for. Who may not look learns nothing of who is there.
func (b *Broker) StatusOf(ctx context.Context, who Identity, id string) (Seen, error) {
	if !b.attempts.admit(who) {
		return Seen{}, tooOften()
	}
	call := access.Request{Action: access.AgentStatus, Resource: id, Tool: statusTool, MayBlock: true}
	var seen Seen
	err := b.asking(ctx, who, &call, func() error {
		return b.update(ctx, func(t *tx) error {
			var err error
			seen, err = t.statusOf(ctx, who, &call)
			var refusal *Error
			if errors.As(err, &refusal) {
				return t.refused(who, "status", id, refusal)
			}
			return err
		})
	})
	return seen, err
}

func (t *tx) statusOf(ctx context.Context, who Identity, call *access.Request) (Seen, error) {
	if !who.operator {
		a, err := live(t, who)
		if err == nil {
			err = t.permitted(ctx, a, call)
		}
		if err != nil {
			return Seen{}, err
		}
	}
	if call.Resource == rootName {
		return Seen{ID: rootName, Session: rootSession, State: Idle}, nil
	}
	a, err := t.agent(call.Resource)
	if err != nil {
		return Seen{}, err
	}
	seen := Seen{ID: a.ID, Session: a.Session, State: a.State}
	if a.State == Exited {
		above, err := manages(t, who, a.ID)
		if err != nil {
			return Seen{}, err
		}
		if above {
			seen.Exit = &a.Exit
		}
	}
	return seen, nil
}
