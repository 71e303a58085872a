package proposal

import (
	"context"
	"errors"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// What one look may cost, and how many are made at a time, for the operator and
// for all agents: the arguments and the
// files are an agent's.
const (
	maxTime    = 10 * time.Second
	maxAtOnce  = 2
	maxContent = 4 << 20  // bytes of a file, before and after
	maxDiff    = 64 << 10 // bytes of a difference, escaped
	maxNote    = 500      // bytes of a note
)

// Maker makes proposals in the process that holds the broker. It is safe for use
// by many goroutines.
type Maker struct {
	b       *broker.Broker
	outside func(cwd string) error
	turn    chan struct{} // of the operator's looks
	agents  chan struct{} // of the agents', who must not keep the operator waiting
}

// New makes a Maker. outside refuses a directory of a project that is not to be
// read, such as one that holds the broker's own files; nil refuses none.
func New(b *broker.Broker, outside func(cwd string) error) *Maker {
	return &Maker{b: b, outside: outside, turn: make(chan struct{}, maxAtOnce), agents: make(chan struct{}, maxAtOnce)}
}

// Of is the proposal of a request, for somebody who may see the request; for anybody
// else it is a *broker.Error. Where there is no difference to show, the proposal has a
// note that says why.
func (m *Maker) Of(ctx context.Context, who broker.Identity, id string) (brokerhttp.Proposal, error) {
	r, err := m.b.Request(ctx, who, id)
	if err != nil {
		return brokerhttp.Proposal{}, err
	}
	p := brokerhttp.Proposal{RequestID: r.ID, Digest: r.Digest}
	call, note := callOf(r)
	if note != "" || len(call) == 0 {
		p.Note = note
		return p, nil
	}
	turn := m.turn
	if !who.Operator() {
		turn = m.agents
	}
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return p, ctx.Err()
	}
	timed, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	err = m.fill(timed, &p, r, call)
	switch {
	case ctx.Err() != nil:
		return p, ctx.Err()
	case err != nil:
		p.Note = oneLine(err.Error())
	}
	return p, nil
}

// fill makes the difference. Its error is for the note.
func (m *Maker) fill(ctx context.Context, p *brokerhttp.Proposal, r broker.Request, calls []skillCall) error {
	cfg, err := m.rules(ctx, r)
	if err != nil {
		return err
	}
	resolver, err := pathresolver.New(cfg)
	if err != nil {
		return errors.New("the agent's directory cannot be looked at from here")
	}
	defer func() { _ = resolver.Close() }() // holds descriptors, nothing to lose
	if resolver.Root() != cfg.Root {
		return errors.New("the agent's directory leads over a link, so nothing is read there")
	}
	files := &overlay{resolver: resolver, only: placeOf(r)}
	if err := files.run(ctx, calls); err != nil {
		return err
	}
	return files.difference(p)
}

// rules are the agent's own, with the place that is asked for as the one that
// may be written.
func (m *Maker) rules(ctx context.Context, r broker.Request) (pathresolver.Config, error) {
	none := pathresolver.Config{}
	agent, err := m.b.Agent(ctx, broker.OperatorIdentity(), r.AgentID)
	if err != nil {
		return none, errors.New("the agent is not there any more")
	}
	if m.outside != nil {
		if err := m.outside(agent.Cwd); err != nil {
			return none, errors.New("the agent's directory holds the broker's own files, so nothing is read there")
		}
	}
	policy, err := m.b.Policy(ctx, r.AgentID)
	if err != nil {
		return none, errors.New("the agent's policy cannot be read")
	}
	held, err := policy.Resolver(agent.Cwd)
	if err != nil || held.NoView {
		return none, errors.New("the agent's policy cannot be held by a view, so nothing is read under it")
	}
	cfg := held.Config
	if place := placeOf(r); place != "" {
		cfg.WritePaths, cfg.Git, cfg.AskWrite = []string{place}, false, nil
	}
	return cfg, nil
}

// placeOf is the place that an approval would let be written; "" where a tool is
// asked for as such, which writes where the agent may anyway.
func placeOf(r broker.Request) string {
	if r.Action == access.ToolUse {
		return ""
	}
	return r.Resource
}
