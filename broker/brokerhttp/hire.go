package brokerhttp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/permission"
)

// hire registers an agent, gives it its socket, and starts its command. An
// agent whose command cannot be started is not left behind: its id is free again.
func (c *call) hire() (any, error) {
	var body HireBody
	if err := c.body(&body); err != nil {
		return nil, err
	}
	if body.Launch != nil && c.s.opt.Plan == nil {
		return nil, fault(broker.CodeInvalid, "this broker starts every command alike")
	}
	launch := ""
	if plan := c.s.opt.Plan; plan != nil && body.Resume == "" {
		var err error
		if launch, err = plan(c.who, &body); err != nil {
			return nil, asRefusal(err)
		}
	}
	if (len(body.Command) > 0 || body.Resume != "") && c.s.opt.Launch == nil {
		return nil, fault(broker.CodeInvalid, "this broker starts no commands: hire without one")
	}
	ctx := c.Context()
	if body.Resume != "" {
		return c.resume(ctx, &body)
	}
	if c.who.Operator() && body.Parent == c.who.String() {
		body.Parent = ""
	}
	var again []string
	if body.Resumable {
		if again = body.Command; len(again) == 0 {
			return nil, fault(broker.CodeInvalid, "resumable is an agent that is hired with a command")
		}
	}
	if body.Follow && (len(body.Command) > 0 || c.socket() == nil) {
		return nil, fault(broker.CodeInvalid, "follow is for an agent that is hired over a socket and without a command")
	}
	policy, err := c.policy(ctx, &body)
	if err != nil {
		return nil, err
	}
	c.takesLong(maxAwait) // the manager may have to be asked
	agent, _, err := c.s.b.Hire(ctx, c.who, broker.HireSpec{
		ID: body.ID, ParentID: body.Parent, Policy: policy, Cwd: body.Cwd, Model: body.Model, Tools: body.Tools, Task: body.Task, Resume: again,
		Route: body.Route, Launch: launch, Until: body.Until,
	})
	if err != nil {
		return nil, asRefusal(err)
	}
	// From here on it is known: whoever hired it may be gone before it runs.
	ctx = context.WithoutCancel(ctx)
	err = c.s.admit(ctx, agent.ID, len(body.Command) > 0)
	switch {
	case err != nil:
	case len(body.Command) > 0:
		err = c.s.launch(ctx, agent, body.Command)
	case body.Follow:
		err = c.followHirer(ctx, agent.ID)
	}
	if err != nil {
		err = errors.Join(err, c.s.b.Withdraw(ctx, agent.ID, err.Error()))
		c.s.Dismiss(agent.ID)
		return nil, asRefusal(err)
	}
	h := c.s.hired(agent)
	if slices.ContainsFunc(policy.Sources(), func(src *permission.Source) bool { return src.Document.OperatorOnly }) {
		h.Warning = fmt.Sprintf("agent '%s' has policy '%s', the operator's own rights: nothing confines it; its children have none of them", agent.ID, policy.Name())
		c.s.opt.Logger.Warn(h.Warning)
	}
	return h, nil
}

// hired is how an agent finds the broker.
func (s *Server) hired(agent broker.Agent) Hired {
	h := Hired{Agent: agent, Socket: AgentSocket(s.opt.Dir, agent.ID)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tcp {
		h.TokenFile = s.TokenFile(agent.ID)
	}
	return h
}

// exitNoStart is the exit code of a command that never ran, as for pinfold run.
const exitNoStart = 125

func (s *Server) launch(ctx context.Context, agent broker.Agent, command []string) error {
	policy, err := s.b.Policy(ctx, agent.ID)
	if err != nil {
		return err
	}
	return s.opt.Launch(ctx, Launch{
		Agent: agent, Policy: policy, Command: command, Socket: AgentSocket(s.opt.Dir, agent.ID),
		Serve: func(c net.Conn) { s.ServeConn(c, agent.ID) },
		Ended: func() { s.Dismiss(agent.ID) },
	})
}

// policy compiles what the agent is to have. The text comes from whoever hires,
// and so do the names in it: no file is opened for them. What a document extends
// is a preset or a profile.
func (c *call) policy(ctx context.Context, body *HireBody) (*permission.Policy, error) {
	given := 0
	for _, is := range []bool{body.Preset != "", body.Policy != nil, body.Agent != nil} {
		if is {
			given++
		}
	}
	if body.Role != "" && (body.Preset != "" || body.Agent != nil) {
		return nil, fault(broker.CodeInvalid, "a role stands alone, or beside a policy")
	}
	if given > 1 {
		return nil, fault(broker.CodeInvalid, "preset, policy and agent name one policy each: give one of them")
	}
	if err := c.place(ctx, body); err != nil {
		return nil, err
	}
	root := body.Cwd
	validate := func(p *permission.Policy) error {
		if c.s.opt.Validate == nil || !filepath.IsAbs(root) {
			return nil // Hire refuses it
		}
		return asRefusal(c.s.opt.Validate(body, p))
	}
	if err := validate(nil); err != nil {
		return nil, err
	}
	opt := permission.Options{Root: filepath.ToSlash(root)}
	if len(body.WritePaths)+len(body.Hide)+len(body.Mask)+len(body.Protect) > 0 || body.Git {
		opt.Caller = &permission.Document{FS: &permission.FS{Write: slices.Clone(body.WritePaths), Hide: body.Hide, Mask: body.Mask, Protect: body.Protect}}
		if body.Git {
			opt.Caller.FS.Write = append(opt.Caller.FS.Write, ".git")
		}
	}
	if body.Net != "" || body.AllowHost != nil {
		if opt.Caller == nil {
			opt.Caller = &permission.Document{}
		}
		opt.Caller.Network = &permission.Network{Mode: permission.NetworkMode(cmp.Or(body.Net, string(permission.NetworkAllow))), Allow: body.AllowHost}
	}
	policy, err := compile(body, opt)
	if err == nil && body.Git && len(body.WritePaths) == 0 {
		if _, is := policies.Of(policy).(interface {
			WriteList() (access.Position, bool)
		}).WriteList(); is { // git alone asks for .git as well, and not for it alone
			opt.Caller.FS.Write = []string{".", ".git"}
			policy, err = compile(body, opt)
		}
	}
	if err != nil {
		return nil, asRefusal(err)
	}
	if lost := policies.Of(policy).(interface{ Unlisted() []policies.Unlisted }).Unlisted(); len(lost) > 0 {
		return nil, fault(broker.CodeInvalid, "write path '%s': %s lists the write paths and it is not among them", lost[0].Path, lost[0].List)
	}
	for _, host := range body.AllowHost {
		if net := policy.Network(); !net.Allows(host) {
			return nil, fault(broker.CodeInvalid, "host '%s' is more than policy '%s' allows, which is: %s", host, policy.Name(), cmp.Or(strings.Join(net.Hosts, " "), "nothing"))
		}
	}
	return policy, validate(policy)
}

// place makes the directory of a child absolute, and refuses one outside its manager's
// before anybody looks whether it is there.
func (c *call) place(ctx context.Context, body *HireBody) error {
	parent := body.Parent
	if !c.who.Operator() {
		parent = c.who.AgentID() // another one Hire refuses, on record
	}
	if parent == "" {
		return nil
	}
	manager, err := c.s.b.Agent(ctx, c.who, parent)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(body.Cwd) && !slices.Contains(strings.Split(body.Cwd, "/"), "..") {
		body.Cwd = filepath.Join(manager.Cwd, body.Cwd)
	}
	if rel, err := filepath.Rel(manager.Cwd, body.Cwd); err != nil || !filepath.IsLocal(rel) {
		return fault(broker.CodeInvalid, "the directory %q does not lie in the manager's, %q: a child works there or beneath it", body.Cwd, manager.Cwd)
	}
	return nil
}

func compile(body *HireBody, opt permission.Options) (*permission.Policy, error) {
	switch {
	case body.Policy != nil:
		src, err := permission.Decode(body.Policy.Name, []byte(body.Policy.Text))
		if err != nil {
			return nil, err
		}
		policy, err := permission.Compile(src, opt)
		if err == nil && body.Role != "" {
			policy, _, err = permission.ForRole(body.Role, policy, opt)
		}
		return policy, err
	case body.Role != "":
		policy, _, err := permission.ForRole(body.Role, nil, opt)
		return policy, err
	case body.Agent != nil:
		agent, err := permission.ParseAgent(body.Agent.Name, []byte(body.Agent.Text))
		if err != nil {
			return nil, err
		}
		policy, _, err := agent.Policy(opt)
		return policy, err
	case body.Preset != "":
		return permission.Preset(body.Preset, opt)
	}
	return permission.Preset("sandboxed", opt)
}

// asRefusal is an error of whoever described the agent: what is wrong with it is
// theirs to read.
func asRefusal(err error) error {
	var known *broker.Error
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	return fault(broker.CodeInvalid, "%s", err)
}
