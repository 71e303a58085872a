package broker

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Overview is what the caller may know of itself and of the agents beneath it.
type Overview struct {
	You      string        `json:"you"`   // the agent's id, or "root" for the operator
	State    State         `json:"state"` // the operator is idle
	Pending  int           `json:"pending_messages"`
	Messages []Message     `json:"messages"` // those, oldest first, at most 100
	Agents   []AgentStatus `json:"agents"`   // each after its manager; of those that are archived the last 100 at most

	archived int // of them
}

// AgentStatus is one agent beneath the caller.
type AgentStatus struct {
	Agent
	Depth    int           `json:"depth"` // 1 is the caller's own child
	Age      time.Duration `json:"age"`   // since it was hired, in nanoseconds
	Requests int           `json:"pending_requests"`
	Queued   int           `json:"pending_messages"`
}

// Status looks and changes nothing: no message is delivered or acknowledged.
// Fired agents are among those that are archived.
func (b *Broker) Status(ctx context.Context, who Identity) (Overview, error) {
	var s Overview
	if err := b.expireDue(ctx); err != nil {
		return s, err
	}
	now := clock(time.Now())
	err := b.view(ctx, func(tx ReadTx) error {
		s = Overview{You: who.String(), State: Idle, Agents: []AgentStatus{}, Messages: []Message{}}
		if !who.operator {
			a, err := live(tx, who)
			if err != nil {
				return err
			}
			s.State = a.State
		}
		undelivered := MessageFilter{RecipientID: s.You, Undelivered: true}
		var err error
		if s.Pending, err = tx.CountMessages(undelivered); err != nil {
			return err
		}
		undelivered.Limit = maxDelivered
		list, err := tx.Messages(undelivered)
		if err != nil {
			return err
		}
		s.Messages = append(s.Messages, list...)
		return s.beneath(tx, who.agent, 1, now)
	})
	return s, err
}

// beneath adds the agents beneath one, each before its own children.
func (s *Overview) beneath(tx ReadTx, id string, depth int, now time.Time) error {
	list, err := tx.Agents(AgentFilter{ParentID: &id, States: []State{Working, Idle, Exited}, Present: true})
	if err != nil {
		return err
	}
	if left := maxArchived - s.archived; left > 0 {
		ended, err := tx.Agents(AgentFilter{ParentID: &id, States: []State{Exited, Fired}, LastArchived: left})
		if err != nil {
			return err
		}
		s.archived += len(ended)
		list = append(list, ended...)
		slices.SortFunc(list, func(a, b Agent) int { return strings.Compare(a.ID, b.ID) })
	}
	for _, a := range list {
		r := AgentStatus{Agent: a, Depth: depth, Age: now.Sub(a.CreatedAt)}
		if r.Requests, err = tx.CountRequests(RequestFilter{AgentID: a.ID, Statuses: []Status{Pending}}); err != nil {
			return err
		}
		if r.Queued, err = tx.CountMessages(MessageFilter{RecipientID: a.ID, Undelivered: true}); err != nil {
			return err
		}
		if s.Agents = append(s.Agents, r); len(s.Agents) > maxDescend {
			return refuse(CodeTooMany, "more than %d agents: look at them in parts", maxDescend)
		}
		if err := s.beneath(tx, a.ID, depth+1, now); err != nil {
			return err
		}
	}
	return nil
}

// Agent is the row of an agent beneath the caller, or of the caller itself.
func (b *Broker) Agent(ctx context.Context, who Identity, id string) (Agent, error) {
	var a Agent
	err := b.view(ctx, func(tx ReadTx) (err error) {
		if err = known(tx, who); err != nil {
			return err
		}
		if id == who.agent && id != "" {
			a, err = tx.Agent(id)
			return err
		}
		a, err = descendant(tx, who, id)
		return err
	})
	return a, b.guessed(ctx, who, "look", id, err)
}
