package brokerhttp

import (
	"slices"

	"github.com/pinfold-dev/pinfold/broker"
)

// agents are those beneath the caller, each after its manager; after names the
// last one that the caller has from an answer before.
func (c *call) agents() (any, error) {
	st, err := c.s.b.Status(c.Context(), c.who)
	if err != nil {
		return nil, err
	}
	rows, known := behind(st.Agents, c.URL.Query().Get("after"))
	if !known {
		return nil, fault(broker.CodeNotFound, "the agent after which the list is to go on is not there any more: ask for all of it")
	}
	page := briefAgents(rows)
	answer := List[broker.Agent]{Items: make([]broker.Agent, len(page)), More: len(page) < len(rows)}
	for i, r := range page {
		answer.Items[i] = r.Agent
	}
	return answer, nil
}

// behind is what follows an agent in a list; all of it for "".
func behind(rows []broker.AgentStatus, id string) (rest []broker.AgentStatus, known bool) {
	if id == "" {
		return rows, true
	}
	i := slices.IndexFunc(rows, func(r broker.AgentStatus) bool { return r.ID == id })
	if i < 0 {
		return nil, false
	}
	return rows[i+1:], true
}

func (c *call) agent() (any, error) { return c.s.b.Agent(c.Context(), c.who, c.PathValue("id")) }

func (c *call) fire() (any, error) {
	c.takesLong(fireTime)
	ended, err := c.s.b.Fire(c.Context(), c.who, c.PathValue("id"))
	if err != nil {
		return nil, err
	}
	answer := fired{Fired: []string{}}
	for _, a := range ended {
		if !a.EndedAt.IsZero() || !c.s.follows(a.ID) { // else it has to hear of it still
			c.s.Dismiss(a.ID)
		}
		answer.Fired = append(answer.Fired, a.ID)
	}
	return answer, nil
}

func (c *call) interrupt() (any, error) {
	c.takesLong(maxAwait) // the manager may have to be asked
	return c.s.b.Interrupt(c.Context(), c.who, c.PathValue("id"))
}

// exit is how an agent that nobody here runs says that it has ended, or the
// operator for it.
func (c *call) exit() (any, error) {
	var body broker.Exit
	if err := c.body(&body); err != nil {
		return nil, err
	}
	id := c.PathValue("id")
	a, err := c.s.b.Agent(c.Context(), c.who, id)
	switch {
	case err != nil:
		return nil, err
	case !c.who.Operator() && c.who.AgentID() != id:
		return nil, fault(broker.CodeOperatorOnly, "only the agent itself and the operator may say that it has ended")
	case a.Process != "" && (c.who.Operator() || !c.s.follows(id)):
		return nil, fault(broker.CodeInvalid, "the broker sees itself when the agent's process ends: 'pinfold fire' ends it")
	}
	if err := c.s.b.Exited(c.Context(), id, body); err != nil {
		return nil, err
	}
	c.s.Dismiss(id)
	return c.s.b.Agent(c.Context(), broker.OperatorIdentity(), id) // who has ended can ask nothing itself
}

// await returns a child once it is idle or has ended, or once a message came
// that the caller should read first. The caller is idle meanwhile, so one
// wait is one request: each would tell its manager anew.
func (c *call) await() (any, error) {
	ctx, cancel, err := c.waiting(maxAwait)
	if err != nil {
		return nil, err
	}
	defer cancel()
	id := c.PathValue("id")
	a, err := c.s.b.Await(ctx, c.who, id)
	if c.timeIsUp(err) {
		return c.s.b.Agent(c.Context(), c.who, id)
	}
	return a, err
}
