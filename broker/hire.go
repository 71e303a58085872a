package broker

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/permission"
)

// HireSpec describes a new agent.
type HireSpec struct {
	ID      string // [A-Za-z0-9._@+-]+, at most 128 bytes; "" makes one
	Session string // the last part of its session key; "" is main

	// ParentID names the manager, which only the operator may do: an agent's
	// children are its own. "" is the caller.
	// "root", too, is the operator.
	ParentID string

	// Policy is what the agent asks for. It gets that within its manager's own.
	Policy *permission.Policy
	// OnExcess says what happens where that is more than its manager has.
	OnExcess permission.OnExcess

	Cwd   string // absolute; "" is the manager's, and a child's lies in that
	Model string
	// Tools are those that it may use, at most 1000, as permission.Policy.WithTools has
	// them; nil is all that its policy allows.
	Tools  []string
	Task   string // at most 64 KiB
	Route  string
	Until  time.Time // when its time is over; zero for never
	Resume []string  // the command that starts it again
	Launch string    // how its command is started, in words of whoever runs it; at most 64 KiB

	within narrowed
}

// narrowed is a policy within a manager's, which can take long to find: that is
// done before the store is locked for others.
type narrowed struct {
	manager string // of the manager's policy
	at      string // in its project
	policy  *permission.Policy
	excess  []permission.Excess
	err     error
}

// narrow has the agent's policy stand within its manager's, as that is now. at is where
// it works in the manager's project.
func (s *HireSpec) narrow(manager *permission.Policy, at string) (*permission.Policy, []permission.Excess, error) {
	if n := &s.within; n.policy == nil && n.err == nil || n.manager != manager.Hash() || n.at != at {
		*n = narrowed{manager: manager.Hash(), at: at}
		if at != "" {
			if manager, n.err = manager.Beneath(at); n.err != nil {
				n.err = refuse(CodeInvalid, "%s", n.err)
			}
		}
		if n.err == nil {
			n.policy, n.excess, n.err = s.child(manager)
		}
	}
	return s.within.policy, s.within.excess, s.within.err
}

// child is Policy.Child, but that a tool which the agent's own list takes away is not
// asked for by the preset beneath it.
func (s *HireSpec) child(manager *permission.Policy) (*permission.Policy, []permission.Excess, error) {
	if s.Tools == nil || s.OnExcess != permission.Reject {
		return manager.Child(s.Policy, s.OnExcess)
	}
	p, excess, err := manager.Child(s.Policy, permission.Clamp)
	if err != nil {
		return nil, nil, err
	}
	own := permission.Enforcer{Policy: s.Policy}
	excess = slices.DeleteFunc(excess, func(x permission.Excess) bool {
		_, tool, is := strings.Cut(x.Rule, ":tools.")
		return is && own.Check(context.Background(), access.Request{Action: access.ToolUse, Resource: tool}).Effect == access.Deny
	})
	if len(excess) > 0 {
		return nil, excess, &permission.ExcessError{Excess: excess}
	}
	return p, nil, nil
}

// Hire registers an agent under its manager, with a policy that is compiled
// within its manager's. The excess is what was clamped, if clamping was asked
// for; otherwise asking for more is a *permission.ExcessError. The agent is
// working from now on.
func (b *Broker) Hire(ctx context.Context, who Identity, spec HireSpec) (a Agent, excess []permission.Excess, err error) {
	if !b.attempts.admit(who) {
		return Agent{}, nil, tooOften()
	}
	var tooMuch *permission.ExcessError
	call := spec.call()
	var badTools error
	if spec.Tools != nil && spec.Policy != nil {
		var p *permission.Policy
		if p, badTools = spec.Policy.WithTools(spec.Tools); badTools == nil {
			spec.Policy = p
		}
	}
	b.narrowFirst(ctx, who, &spec)
	err = b.asking(ctx, who, &call, func() error {
		return b.update(ctx, func(t *tx) (err error) {
			tooMuch = nil
			if badTools != nil {
				return t.refused(who, "hire", spec.ID, refuse(CodeInvalid, "%s", badTools))
			}
			a, excess, err = t.hire(ctx, who, &spec, &call)
			var refusal *Error
			switch {
			case errors.As(err, &tooMuch):
				return t.refused(who, "hire", spec.ID, &Error{Code: CodeInvalid, Message: err.Error()})
			case errors.As(err, &refusal):
				return t.refused(who, "hire", spec.ID, refusal)
			}
			return err
		})
	})
	if tooMuch != nil && err != nil {
		err = tooMuch
	}
	if err != nil {
		return Agent{}, nil, err
	}
	return a, excess, nil
}

// narrowFirst narrows the policy before the store is locked. What goes wrong is
// found again, and said, where the agent is registered.
func (b *Broker) narrowFirst(ctx context.Context, who Identity, spec *HireSpec) {
	manager := spec.ParentID
	if !who.operator {
		manager = who.agent
	}
	if manager == "" || spec.Policy == nil {
		return
	}
	var own *permission.Policy
	var at string
	err := b.view(ctx, func(tx ReadTx) error {
		a, err := tx.Agent(manager)
		if err == nil {
			own, err = b.hiredPolicy(tx, a)
		}
		if err == nil && spec.Cwd != "" {
			at, err = placeIn(a, Agent{Cwd: spec.Cwd})
		}
		return err
	})
	if err == nil && own != nil {
		_, _, _ = spec.narrow(own, at)
	}
}

// call is what the caller's policy is asked about a new agent.
func (s *HireSpec) call() access.Request {
	shown := map[string]any{"id": s.ID, "cwd": s.Cwd, "model": s.Model, "tools": s.Tools, "task": s.Task}
	if s.Route != "" {
		shown["route"] = s.Route
	}
	if s.Launch != "" {
		shown["launch"] = s.Launch
	}
	if s.Policy != nil {
		shown["policy"] = s.Policy.Hash()
	}
	return access.Request{Action: access.AgentSpawn, Resource: s.ID, Tool: createTool, MayBlock: true, Input: jsonOf(shown)}
}

func (t *tx) hire(ctx context.Context, who Identity, spec *HireSpec, call *access.Request) (Agent, []permission.Excess, error) {
	fail := func(err error) (Agent, []permission.Excess, error) { return Agent{}, nil, err }
	parent, err := t.managerOf(ctx, who, *spec, call)
	if err != nil {
		return fail(err)
	}
	a := Agent{
		ID: spec.ID, ParentID: parent.ID, Cwd: spec.Cwd, Model: spec.Model, Tools: spec.Tools, Task: spec.Task,
		Route: spec.Route, Resume: spec.Resume, Launch: spec.Launch, State: Working, CreatedAt: t.now,
	}
	if a.ID == "" {
		a.ID = newID(t.now)
	}
	if a.Cwd == "" {
		a.Cwd = parent.Cwd
	}
	a.Until = clock(spec.Until)
	if err := spec.checkUntil(t.now); err != nil {
		return fail(err)
	}
	if err := spec.check(a); err != nil {
		return fail(err)
	}
	if _, err := t.Agent(a.ID); err == nil {
		return fail(refuse(CodeExists, "an agent %q is there already", a.ID))
	} else if !errors.Is(err, ErrNotFound) {
		return fail(err)
	}
	policy, excess := spec.Policy, []permission.Excess(nil)
	if parent.ID != "" {
		own, err := t.b.hiredPolicy(t, parent)
		if err != nil {
			return fail(err)
		}
		at, err := placeIn(parent, a)
		if err != nil {
			return fail(err)
		}
		if policy, excess, err = spec.narrow(own, at); err != nil {
			return fail(err)
		}
		if err := t.roomFor(who, parent); err != nil {
			return fail(err)
		}
	}
	session := spec.Session
	if session == "" {
		session = "main"
	}
	a.Session, a.PolicyHash = "agent:"+a.ID+":"+session, policy.Hash()
	encoded := permission.EncodePolicy(policy)
	bytes := a.bytes()
	if _, err := t.Policy(a.PolicyHash); errors.Is(err, ErrNotFound) {
		bytes += len(encoded)
	} else if err != nil {
		return fail(err)
	}
	if err := t.keep(who, bytes); err != nil {
		return fail(err)
	}
	if err := t.PutPolicy(a.PolicyHash, encoded); err != nil {
		return fail(err)
	}
	if err := t.InsertAgent(a); err != nil {
		return fail(err)
	}
	// A rate whose time has come is as good as none: this is when they go.
	if err := t.DeleteRates(t.now); err != nil {
		return fail(err)
	}
	t.record(Record{Principal: who.String(), Action: "hire", Resource: a.ID, Effect: access.Allow, Code: permission.CodeAllowed, Reason: held(policy), PolicyHash: a.PolicyHash})
	t.Notify(agentTopic(a.ID))
	t.Notify(agentTopic(a.ParentID))
	return a, excess, nil
}

// managerOf is the new agent's manager: the caller, unless the operator names
// another. The zero Agent is the operator.
func (t *tx) managerOf(ctx context.Context, who Identity, spec HireSpec, call *access.Request) (Agent, error) {
	if who.operator {
		if managerOfBox(spec.ParentID) == "" {
			return Agent{}, nil
		}
		parent, err := live(t, Identity{agent: spec.ParentID})
		var refusal *Error
		if errors.As(err, &refusal) {
			err = noSession(spec.ParentID)
		}
		return parent, err
	}
	parent, err := live(t, who)
	if err != nil {
		return Agent{}, err
	}
	if spec.ParentID != "" && spec.ParentID != who.agent {
		return Agent{}, refuse(CodeOperatorOnly, "the parent of a new agent is its creator, '%s': only the operator may name another", who.agent)
	}
	return parent, t.permitted(ctx, parent, call)
}

func (s *HireSpec) check(a Agent) error {
	if err := permission.CheckID(a.ID); err != nil {
		return refuse(CodeInvalid, "%s", err)
	}
	if a.ID == rootName || a.ID == "operator" {
		return refuse(CodeInvalid, "%q is the operator and can be no agent's id", a.ID)
	}
	if s.Session != "" {
		if err := permission.CheckID(s.Session); err != nil {
			return refuse(CodeInvalid, "session: %s", err)
		}
	}
	switch {
	case s.Policy == nil:
		return refuse(permission.CodeNoPolicy, "an agent needs a policy")
	case !filepath.IsAbs(a.Cwd) || a.Cwd != filepath.Clean(a.Cwd):
		return refuse(CodeInvalid, "the directory %q is not absolute and clean", shown(a.Cwd, maxShown))
	case len(a.Cwd) > maxName || len(a.Model) > maxName || len(a.Route) > maxName || len(a.Task) > maxTask || len(a.Launch) > maxTask || len(a.Tools) > maxTools || len(a.Resume) > maxTools:
		return refuse(CodeTooLarge, "the description of an agent is too large: a task may have %d bytes, other texts %d, a list %d entries", maxTask, maxName, maxTools)
	}
	for _, text := range append(append([]string{a.Cwd, a.Model, a.Route, a.Task, a.Launch}, a.Tools...), a.Resume...) {
		if !isStorable(text) || len(text) > maxTask {
			return refuse(CodeInvalid, "the description of an agent holds NUL, bytes that are no UTF-8, or a text that is too long")
		}
	}
	return nil
}

// roomFor refuses a child too many, and one too deep.
func (t *tx) roomFor(who Identity, parent Agent) error {
	depth := 1
	for up := parent; up.ParentID != ""; depth++ {
		if depth >= maxDepth {
			return refuse(CodeTooMany, "agents manage each other at most %d deep", maxDepth)
		}
		var err error
		if up, err = t.Agent(up.ParentID); err != nil {
			return err
		}
	}
	if who.operator {
		return nil
	}
	children, err := t.Agents(AgentFilter{ParentID: &parent.ID, States: []State{Working, Idle}, Limit: maxChildren})
	if err == nil && len(children) >= maxChildren {
		err = refuse(CodeTooMany, "an agent has at most %d children at a time", maxChildren)
	}
	return err
}

func noSession(id string) *Error {
	return refuse(CodeNotFound, "Session not found: %s", shown(id, maxName))
}
