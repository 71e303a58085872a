package broker

import (
	"context"
	"errors"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/permission"
)

// Fire waits for processes to be gone: at each height of the tree for the 10 s
// that they have after SIGTERM, since leaves go first, and some more.
const (
	fireEach = 10 * time.Second
	fireMore = 5 * time.Second
)

// Fire ends an agent and all beneath it, leaves first: from the moment it is on
// disk nobody acts under their names, their requests are cancelled, their
// grants have ended, and their mailboxes are empty. Messages that they
// have sent remain. It returns them in that order once their processes are
// gone, or after 10 s for each height of the tree and 5 more; an agent without EndedAt still has one then. Like
// Interrupt and Hire it waits for the manager where the caller's policy wants
// it asked for.
func (b *Broker) Fire(ctx context.Context, who Identity, id string) ([]Agent, error) {
	var fired []Agent
	heights := 1
	call := access.Request{Action: access.AgentDestroy, Resource: id, Tool: destroyTool}
	err := b.control(ctx, who, "fire", call, func(t *tx, a Agent) (err error) {
		if fired, heights, err = t.tree(a); err != nil {
			return err
		}
		for i := range fired {
			if err := t.fire(who, &fired[i]); err != nil {
				return err
			}
		}
		return t.notifyEnd(fired[len(fired)-1])
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(heights)*fireEach+fireMore)
	defer cancel()
	for i := range fired {
		a, err := b.AwaitAgent(ctx, fired[i].ID, func(a Agent) bool { return !a.EndedAt.IsZero() })
		if err != nil {
			break
		}
		fired[i] = a
	}
	return fired, nil
}

// fire ends one agent.
func (t *tx) fire(who Identity, a *Agent) error {
	if a.State == Fired {
		return nil
	}
	from := a.State
	a.State, a.TokenHash = Fired, ""
	if a.Process == "" && a.EndedAt.IsZero() {
		a.EndedAt = t.now
	}
	if err := t.UpdateAgent(*a, from); err != nil {
		return err
	}
	if err := t.archive(*a); err != nil {
		return err
	}
	if err := t.release(*a); err != nil {
		return err
	}
	if _, err := t.DeleteMessages(a.ID); err != nil {
		return err
	}
	t.record(Record{Principal: who.String(), Action: "fire", Resource: a.ID, Effect: access.Allow, Code: permission.CodeAllowed, PolicyHash: a.PolicyHash})
	t.Notify(agentTopic(a.ID))
	t.Notify(agentTopic(a.ParentID))
	t.Notify(mailboxTopic(a.ID))
	return nil
}

// release ends all that an agent waits for, has leave for, or is waited for as
// a manager, and records what was left out of the audit until then.
func (t *tx) release(a Agent) error {
	if err := t.cancelOf(a.ID, codeAgentGone); err != nil {
		return err
	}
	if err := t.cancelFor(a.ID); err != nil {
		return err
	}
	if err := t.endGrants(a.ID); err != nil {
		return err
	}
	if err := t.tellAllLeftOut(a); err != nil {
		return err
	}
	_, err := t.DeleteWaits(WaitFilter{AgentID: a.ID})
	return err
}

// tree is an agent and all beneath it that are not archived, leaves first, and how many managers deep
// it is.
func (t *tx) tree(a Agent) (list []Agent, heights int, err error) {
	list = []Agent{a}
	level := 0 // where the children begin of those at the present height
	for i := 0; i < len(list); i++ {
		if i == level {
			heights, level = heights+1, len(list)
		}
		children, err := t.Agents(AgentFilter{ParentID: &list[i].ID, States: []State{Working, Idle, Exited}, Present: true})
		if err != nil {
			return nil, 0, err
		}
		if list = append(list, children...); len(list) > maxDescend {
			return nil, 0, refuse(CodeTooMany, "more than %d agents: fire them in parts", maxDescend)
		}
	}
	// Parents come before their children: the other way round, leaves first.
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list, heights, nil
}

// Interrupt cancels what an agent has asked for, and tells whoever runs its
// process to send it SIGINT. The agent stays registered.
func (b *Broker) Interrupt(ctx context.Context, who Identity, id string) (Agent, error) {
	return b.interrupt(ctx, who, access.Request{Action: access.AgentInterrupt, Resource: id})
}

// Cancel is Interrupt as the tool nexus_cancel asks for it.
func (b *Broker) Cancel(ctx context.Context, who Identity, id string) (Agent, error) {
	return b.interrupt(ctx, who, access.Request{Action: access.AgentCancel, Resource: id, Tool: cancelTool})
}

func (b *Broker) interrupt(ctx context.Context, who Identity, call access.Request) (Agent, error) {
	var a Agent
	err := b.control(ctx, who, "interrupt", call, func(t *tx, target Agent) error {
		if target.State.Ended() {
			return noSession(target.ID)
		}
		if err := t.keep(who, costRecord); err != nil {
			return err
		}
		a = target
		a.Interrupts++
		if err := t.UpdateAgent(a, a.State); err != nil {
			return err
		}
		if err := t.cancelOf(a.ID, codeInterrupted); err != nil {
			return err
		}
		t.record(Record{Principal: who.String(), Action: "interrupt", Resource: a.ID, Effect: access.Allow, Code: permission.CodeAllowed, PolicyHash: a.PolicyHash})
		t.Notify(agentTopic(a.ID))
		return nil
	})
	return a, err
}

// control does something to an agent for one of its managers, if the manager's
// own policy lets it, having asked where it has to. Who is no manager is refused in the same words whether or
// not there is such an agent.
func (b *Broker) control(ctx context.Context, who Identity, verb string, call access.Request, do func(*tx, Agent) error) error {
	if !b.attempts.admit(who) {
		return tooOften()
	}
	call.MayBlock = true
	return b.asking(ctx, who, &call, func() error {
		return b.update(ctx, func(t *tx) error {
			err := t.mayControl(ctx, who, &call)
			var a Agent
			if err == nil {
				a, err = t.agent(call.Resource)
			}
			if err == nil {
				err = do(t, a)
			}
			var refusal *Error
			if errors.As(err, &refusal) {
				return t.refused(who, verb, call.Resource, refusal)
			}
			return err
		})
	})
}

func (t *tx) mayControl(ctx context.Context, who Identity, call *access.Request) error {
	if who.operator {
		return nil
	}
	a, err := live(t, who)
	if err != nil {
		return err
	}
	if err := t.permitted(ctx, a, call); err != nil {
		return err
	}
	above, err := manages(t, who, call.Resource)
	if err == nil && !above {
		err = refuse(CodeNotManager, "agent '%s' is no child of '%s'", shown(call.Resource, maxShown), a.ID)
	}
	return err
}
