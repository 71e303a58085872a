package broker

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	layers "github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/permission"
)

// Explained is what would be decided about a request of an agent, and why.
type Explained struct {
	Agent      string        `json:"agent"`
	Parent     string        `json:"parent"` // "root" for the operator
	Policy     string        `json:"policy"` // its name
	PolicyHash string        `json:"policy_hash"`
	Action     access.Action `json:"action"`
	Resource   string        `json:"resource"`
	Effect     access.Effect `json:"effect"`
	Code       access.Code   `json:"code,omitempty"`
	Text       string        `json:"text"` // the reason, as the agent would be told it

	// Steps are what each layer says, in the order in which they are asked.
	Steps []ExplainedStep `json:"steps"`
	// Grants are those without which it would have to be asked for.
	Grants []Request `json:"grants"`
}

// ExplainedStep is what one layer of a policy says.
type ExplainedStep struct {
	Stage  string        `json:"stage"`
	Layer  string        `json:"layer"`            // the document; "" for what holds where none speaks
	Effect access.Effect `json:"effect,omitempty"` // "" where the layer says nothing
	Rule   string        `json:"rule,omitempty"`
	Source string        `json:"source,omitempty"` // file:line:column of the rule
}

// explainer is what a policy has beside its exported methods.
type explainer interface {
	Explain(permission.Registry, access.Request) (access.Decision, []layers.Step)
}

// Explain says what would be decided now about a request of an agent: by its policy, what
// was granted to it, and who is whose parent. It is for the operator, the agent's managers
// and the agent itself, and does nothing: no grant is used up, nobody is asked, and nothing
// is recorded.
//
// Where no tool is named, it is the one with which the broker itself decides about the
// action, as nexus_send for messages. A message to a bare id is one to agent:ID:main.
func (b *Broker) Explain(ctx context.Context, who Identity, id string, c access.Request) (Explained, error) {
	if !slices.Contains(access.Actions(), c.Action) {
		return Explained{}, refuse(CodeInvalid, "unknown action %q", shown(string(c.Action), maxShown))
	}
	asTheBroker(&c)
	if err := checkCall(&c); err != nil {
		return Explained{}, err
	}
	if !b.attempts.admit(who) {
		return Explained{}, tooOften()
	}
	var e Explained
	err := b.view(ctx, func(tx ReadTx) error {
		a, err := ownOrBeneath(tx, who, id)
		if err != nil {
			return err
		}
		p, err := b.hiredPolicy(tx, a)
		if err != nil {
			return err
		}
		now := clock(time.Now())
		c.Principal, c.ArgsDigest = a.ID, digestOf(&c)
		d, steps := layers.Of(p).(explainer).Explain(kin{tx, a.ID}, c)
		e = Explained{
			Agent: a.ID, Parent: recipientOf(a.ParentID), Policy: p.Name(), PolicyHash: a.PolicyHash,
			Action: c.Action, Resource: c.Resource, Steps: []ExplainedStep{}, Grants: []Request{},
		}
		if d.Effect == access.Ask {
			if d, e.Grants, err = b.granted(ctx, tx, a, c, d, now); err != nil {
				return err
			}
		}
		e.Effect, e.Code, e.Text = d.Effect, d.Code, d.Text()
		for _, s := range steps {
			step := ExplainedStep{Stage: s.Stage, Layer: s.Layer, Effect: s.Effect, Rule: s.Rule}
			if s.Rule != "" {
				step.Source = s.Source.String()
			}
			e.Steps = append(e.Steps, step)
		}
		return nil
	})
	return e, b.guessed(ctx, who, "look", id, err)
}

// asTheBroker makes a request out of c that the broker would decide about, since what the
// policy says of a tool holds only where the tool is named.
func asTheBroker(c *access.Request) {
	if strings.HasPrefix(string(c.Action), "msg.") && permission.CheckID(c.Resource) == nil {
		c.Resource = "agent:" + c.Resource + ":main"
	}
	if c.Tool == "" {
		c.Tool = toolFor(c)
	}
}

// toolFor is the tool with which the broker decides about a request; "" for what is done
// without one.
func toolFor(c *access.Request) string {
	switch c.Action {
	case access.MsgSend, access.MsgContextualize, access.MsgExecute, access.MsgAsk, access.MsgAnswer:
		return sendTool
	case access.AgentSpawn:
		return createTool
	case access.AgentStatus:
		return statusTool
	case access.AgentCancel:
		return cancelTool
	case access.AgentDestroy:
		return destroyTool
	case access.ToolUse:
		return c.Resource
	}
	return ""
}

// granted decides with what was granted, and says which of it that is.
func (b *Broker) granted(ctx context.Context, tx ReadTx, a Agent, c access.Request, asked access.Decision, now time.Time) (access.Decision, []Request, error) {
	var used []Request
	d, once, err := b.once(ctx, tx, a, c, now)
	if err != nil || !d.Allowed() {
		return asked, []Request{}, err
	}
	active, err := tx.Requests(RequestFilter{AgentID: a.ID, Statuses: []Status{Active}})
	if err != nil {
		return asked, nil, err
	}
	for _, r := range append(active, once...) {
		if r.ApproverID != a.ParentID || !r.Until.IsZero() && !now.Before(r.Until) {
			continue
		}
		p, err := b.hiredPolicy(tx, a)
		if err != nil {
			return asked, nil, err
		}
		if alone := p.Granting(r.grant(nil, "")); (permission.Enforcer{Policy: alone, Registry: kin{tx, a.ID}}).Check(ctx, c).Allowed() {
			used = append(used, r)
		}
	}
	return d, append([]Request{}, used...), nil
}

// ownOrBeneath is the caller's own row, or that of an agent beneath it; in the same words
// as for none it refuses any other.
func ownOrBeneath(tx ReadTx, who Identity, id string) (Agent, error) {
	if err := known(tx, who); err != nil {
		return Agent{}, err
	}
	if id == who.agent && id != "" {
		return tx.Agent(id)
	}
	return descendant(tx, who, id)
}

// Holding is what an agent is held to now.
type Holding struct {
	Policy string          `json:"policy"` // its name
	Hash   string          `json:"policy_hash"`
	Chain  []HoldingLayer  `json:"chain"` // the documents that all hold, outermost first
	Tools  []HoldingEffect `json:"tools"` // those that the documents and the agent name, by name
	Grants []Request       `json:"grants"`
}

// HoldingLayer is one document of a policy's chain.
type HoldingLayer struct {
	Name string `json:"name"`
	File string `json:"file"` // preset:NAME for what pinfold brings
}

// HoldingEffect says whether an agent may use a tool.
type HoldingEffect struct {
	Name   string        `json:"name"`
	Effect access.Effect `json:"effect"`
}

// Holding says what an agent is held to, for the operator, its managers and itself.
func (b *Broker) Holding(ctx context.Context, who Identity, id string) (Holding, error) {
	var h Holding
	err := b.view(ctx, func(tx ReadTx) error {
		a, err := ownOrBeneath(tx, who, id)
		if err != nil {
			return err
		}
		p, err := b.hiredPolicy(tx, a)
		if err != nil {
			return err
		}
		h = Holding{Policy: p.Name(), Hash: a.PolicyHash, Chain: []HoldingLayer{}, Tools: []HoldingEffect{}, Grants: []Request{}}
		tools := slices.Clone(a.Tools)
		for _, src := range p.Sources() {
			if layer := (HoldingLayer{Name: sourceName(src), File: src.File}); !slices.Contains(h.Chain, layer) {
				h.Chain = append(h.Chain, layer)
			}
			for tool := range src.Document.Tools {
				tools = append(tools, tool)
			}
		}
		slices.Sort(tools)
		e := permission.Enforcer{Policy: p, Registry: kin{tx, a.ID}}
		for _, tool := range slices.Compact(tools) {
			d := e.Check(ctx, access.Request{Principal: a.ID, Action: access.ToolUse, Resource: tool, Tool: tool})
			h.Tools = append(h.Tools, HoldingEffect{Name: tool, Effect: d.Effect})
		}
		grants, err := tx.Requests(RequestFilter{AgentID: a.ID, Statuses: []Status{Approved, Active}})
		now := clock(time.Now())
		h.Grants = append(h.Grants, slices.DeleteFunc(grants, func(r Request) bool { return !r.Until.IsZero() && !now.Before(r.Until) })...)
		return err
	})
	return h, b.guessed(ctx, who, "look", id, err)
}
