package broker

import (
	"context"
	"errors"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/permission"
)

// These are for whoever runs the agents' processes. They ask for no identity,
// so no transport offers them to agents.

// AwaitAgent returns the agent's row once it is as wanted, or when ctx is done.
// Whoever runs its process waits here for it to be fired (State Fired: SIGTERM,
// then SIGKILL) or interrupted (Interrupts has grown: SIGINT).
func (b *Broker) AwaitAgent(ctx context.Context, id string, wanted func(Agent) bool) (Agent, error) {
	var a Agent
	err := b.await(ctx, []string{agentTopic(id)}, time.Time{}, func(tx ReadTx) (bool, error) {
		var err error
		if a, err = tx.Agent(id); errors.Is(err, ErrNotFound) {
			err = noSession(id)
		}
		return err == nil && wanted(a), err
	})
	return a, outcome(err)
}

// AwaitStop returns when the agent was fired and none of the agents beneath it
// runs a process any more, so that leaves are stopped first; or when ctx
// is done.
func (b *Broker) AwaitStop(ctx context.Context, id string) error {
	if _, err := b.AwaitAgent(ctx, id, func(a Agent) bool { return a.State == Fired }); err != nil {
		return err
	}
	err := b.await(ctx, []string{agentTopic(id)}, time.Time{}, func(tx ReadTx) (bool, error) {
		for beneath := []string{id}; len(beneath) > 0; beneath = beneath[1:] {
			children, err := tx.Agents(AgentFilter{ParentID: &beneath[0], States: []State{Fired}})
			if err != nil {
				return false, err
			}
			for _, a := range children {
				if a.EndedAt.IsZero() {
					return false, nil
				}
				beneath = append(beneath, a.ID)
			}
		}
		return true, nil
	})
	return outcome(err)
}

// Started says that a process runs, or is about to run, as the agent. process
// is in words of whoever runs it; it is shown. how is How, or "" where that is not known;
// it is shown and recorded. An exited agent works again. The
// error has CodeExists where a process runs already.
func (b *Broker) Started(ctx context.Context, id, process, how string) error {
	if how != "" {
		process += "; " + how
	}
	return b.update(ctx, func(t *tx) error {
		a, err := t.agent(id)
		if err != nil {
			return err
		}
		if a.State == Fired || a.over(t.now) {
			return noSession(id)
		}
		if a.Process != "" {
			return refuse(CodeExists, "a process runs as '%s' already: %s", a.ID, a.Process)
		}
		from := a.State
		if from == Exited {
			a.Turn++ // its next end is another one
		}
		a.State, a.Process, a.EndedAt, a.Exit = Working, shown(storable(process), maxShown), time.Time{}, Exit{}
		if err := t.UpdateAgent(a, from); err != nil {
			return err
		}
		if err := t.unarchive(a); err != nil {
			return err
		}
		p, err := b.hiredPolicy(t, a)
		if err != nil {
			return err
		}
		reason := held(p)
		if how != "" {
			reason += "; " + shown(storable(how), maxShown)
		}
		t.record(Record{Action: "start", Resource: id, Effect: access.Allow, Code: permission.CodeAllowed, Reason: reason, PolicyHash: a.PolicyHash})
		t.Notify(agentTopic(id))
		return nil
	})
}

// Exited says that the agent's process is gone. Its requests are cancelled, and
// those of its children that it should have answered; its grants end; its parent
// gets one notification.
func (b *Broker) Exited(ctx context.Context, id string, exit Exit) error {
	exit.Output = shown(cutTo(storable(exit.Output), maxOutput), maxOutput)
	exit.Signal = shown(storable(exit.Signal), maxShown)
	return b.update(ctx, func(t *tx) error {
		a, err := t.agent(id)
		if err != nil || !a.EndedAt.IsZero() {
			return err
		}
		from := a.State
		if a.State != Fired {
			a.State = Exited
		}
		a.Process, a.EndedAt, a.Exit = "", t.now, exit
		if err := t.UpdateAgent(a, from); err != nil {
			return err
		}
		if err := t.archive(a); err != nil {
			return err
		}
		if err := t.release(a); err != nil {
			return err
		}
		if len(a.Resume) > 0 && a.State == Exited { // a message may lie there already
			t.Notify(resumeTopic)
		}
		t.record(Record{Action: "exit", Resource: id, Effect: access.Allow, Code: permission.CodeAllowed, Reason: exit.String(), PolicyHash: a.PolicyHash})
		if err := t.notifyUp(a); err != nil {
			return err
		}
		return t.notifyEnd(a)
	})
}

// archive marks an agent that has ended, and those above it that had ended and were kept
// for it alone. One that can be started again is kept.
func (t *tx) archive(a Agent) error {
	for range maxDepth + 1 {
		if a.Archived || !a.State.Ended() || a.State == Exited && len(a.Resume) > 0 {
			return nil
		}
		present, err := t.Agents(AgentFilter{ParentID: &a.ID, Present: true, Limit: 1})
		if err != nil || len(present) > 0 {
			return err
		}
		a.Archived = true
		if err := t.UpdateAgent(a, a.State); err != nil || a.ParentID == "" {
			return err
		}
		if a, err = t.Agent(a.ParentID); err != nil {
			return err
		}
	}
	return nil
}

// unarchive is for one that was archived and is there again, with those above it.
func (t *tx) unarchive(a Agent) error {
	for range maxDepth + 1 {
		if a.Archived {
			a.Archived = false
			if err := t.UpdateAgent(a, a.State); err != nil {
				return err
			}
		}
		if a.ParentID == "" {
			return nil
		}
		var err error
		if a, err = t.Agent(a.ParentID); err != nil {
			return err
		}
	}
	return nil
}

// Withdraw undoes the hiring of an agent whose command could not be started: its id
// is free again, and nobody is told of an end but whoever hired it, by an error. Where
// somebody has acted as the agent meanwhile so that others depend on its row, it has
// exited instead.
func (b *Broker) Withdraw(ctx context.Context, id, reason string) error {
	reason = shown(cutTo(storable(reason), maxOutput), maxOutput)
	kept := false
	err := b.update(ctx, func(t *tx) error {
		kept = false
		a, err := t.agent(id)
		if err != nil {
			return err
		}
		children, err := t.Agents(AgentFilter{ParentID: &id, Limit: 1})
		if err != nil {
			return err
		}
		if kept = a.State == Fired || len(children) > 0; kept {
			return nil
		}
		if err := t.release(a); err != nil {
			return err
		}
		if _, err := t.DeleteMessages(id); err != nil {
			return err
		}
		if err := t.notifyUp(a); err != nil {
			return err
		}
		t.record(Record{Action: "withdraw", Resource: id, Effect: access.Deny, Code: CodeInvalid, Reason: reason, PolicyHash: a.PolicyHash})
		return t.DeleteAgent(id)
	})
	if err == nil && kept {
		err = b.Exited(ctx, id, Exit{Code: exitNoStart, Output: reason})
	}
	return err
}

// exitNoStart is the exit code of a command that never ran, as for pinfold run.
const exitNoStart = 125

// notifyUp wakes whoever looks at the agent or waits for it, at any height.
func (t *tx) notifyUp(a Agent) error {
	t.Notify(agentTopic(a.ID))
	for range maxDepth {
		t.Notify(agentTopic(a.ParentID))
		if a.ParentID == "" {
			break
		}
		var err error
		if a, err = t.Agent(a.ParentID); err != nil {
			return err
		}
	}
	return nil
}

// Running lists the agents that a process is said to run for. Whoever runs
// processes looks through it when it starts, and says Exited for those of its
// own that are gone: their requests are then cancelled.
func (b *Broker) Running(ctx context.Context) ([]Agent, error) {
	var running []Agent
	err := b.view(ctx, func(tx ReadTx) error {
		var err error
		running, err = tx.Agents(AgentFilter{Process: true})
		return err
	})
	return running, err
}

func (t *tx) agent(id string) (Agent, error) {
	a, err := t.Agent(id)
	if errors.Is(err, ErrNotFound) {
		err = noSession(id)
	}
	return a, err
}
