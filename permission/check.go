package permission

import (
	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// stage is one of the questions that a request is put to, in this order: is the tool
// enabled, is the action allowed, may it be aimed at that target, are the paths
// covered? The first that refuses decides.
type stage uint8

const (
	stageTool stage = iota
	stageAction
	stageTarget
	stageACL
	stageOutside
	stageRead
	stageWrite
	stageToolPath
)

func (s stage) String() string {
	return [...]string{"tool", "action", "target", "cross_send", "outside", "read", "write", "tool paths"}[s]
}

// question is a request on its way through the chain.
type question struct {
	access.Access
	principal string
	tool      string // the name under which tools are looked up
	id        string // of the target
	rel       relation
}

// spelling is a place as the rules match it. It travels apart from the
// question, so that it stays on the stack.
type spelling struct {
	exact  []byte
	folded []byte // for rules that ignore letter case
}

// decide is Check; trace is told every layer's opinion, if it is not nil.
func (e Enforcer) decide(req access.Request, trace *[]policies.Step) access.Decision {
	d := access.Decision{Principal: req.Principal, Tool: req.Tool, Access: access.Access{Action: req.Action, Resource: req.Resource}, By: (*explainer)(e.Policy)}
	if e.Policy == nil {
		return settle(d, finding{opinion: denied, code: CodeNoPolicy})
	}
	q := question{principal: req.Principal, tool: req.Tool}
	if req.Action == access.ToolUse {
		q.tool = req.Resource
	}
	worst := finding{opinion: allowed, code: CodeAllowed}
	// A pass asks one of these questions of every access.
	for pass := range 4 {
		for i := -1; i < len(req.Also); i++ {
			q.Access = d.Access
			if i >= 0 {
				q.Access = req.Also[i]
			} else {
				q.Access = access.Access{Action: req.Action, Resource: req.Resource}
			}
			f := e.pass(pass, &q, i, trace)
			if req.Confirm && pass == 0 && i < 0 && f.opinion == allowed {
				f = finding{opinion: asked, code: pathresolver.RuleAsk}
			}
			if f.opinion == asked && len(e.Policy.given) > 0 {
				f = e.lift(f, &q, &req, pass == 0)
			}
			// Among what allows it, a grant is what decided.
			granted := f.opinion == allowed && worst.rule != nil && worst.rule.layer == grantLayer
			if f.opinion >= worst.opinion && f.rule != nil && !granted || f.opinion > worst.opinion {
				worst = f
				d.Access = q.Access
			}
			if f.opinion == denied {
				d.Parent = q.rel.parent
				return settle(d, f)
			}
		}
	}
	d.Parent = q.rel.parent
	d.Timeout = e.Policy.timeout(q.tool)
	if worst.opinion == asked && e.Policy.approvalsOff() {
		worst = finding{opinion: denied, code: codeApprovalsOff, rule: worst.rule}
	}
	return settle(d, worst)
}

// pass asks one of these questions about one access.
func (e Enforcer) pass(pass int, q *question, i int, trace *[]policies.Step) finding {
	p := e.Policy
	class := q.Action.Kind()
	aimed := class == access.KindMessage || class == access.KindAgent
	switch pass {
	case 0: // enabled
		if aimed {
			if f, bad := e.relate(q); bad {
				return f
			}
		}
		if i < 0 && q.tool != "" {
			return p.over(stageTool, q, nil, trace)
		}
	case 1: // action allowed
		return p.action(q, trace)
	case 2: // target allowed
		if !aimed {
			break
		}
		if f := q.checkTarget(); f.opinion == denied {
			return f
		}
		if f, bad := e.relate(q); bad {
			return f
		}
		f := p.over(stageTarget, q, nil, trace)
		if f.opinion == denied || class != access.KindMessage {
			return f
		}
		return stricter(f, p.over(stageACL, q, nil, trace))
	case 3: // paths
		if class == access.KindRead || class == access.KindWrite {
			return p.file(q, class == access.KindWrite, trace)
		}
	}
	return finding{opinion: allowed}
}

// action asks whether the action may be done at all. Files have rules of their
// own.
func (p *Policy) action(q *question, trace *[]policies.Step) finding {
	switch q.Action.Kind() {
	case access.KindRead, access.KindWrite, access.KindTool:
		return finding{opinion: allowed}
	case 0:
		return finding{opinion: denied, code: codeUnknownAction}
	}
	return p.over(stageAction, q, nil, trace)
}

// over is one stage over the whole chain: the strictest opinion. Where no layer
// of a sealed group speaks, the group denies, or what silence means there.
func (p *Policy) over(s stage, q *question, at *spelling, trace *[]policies.Step) finding {
	worst := finding{opinion: allowed}
	for gi := range p.groups {
		g := &p.groups[gi]
		spoke := false
		for _, l := range g.layers {
			f := l.opine(s, q, at)
			if trace != nil {
				*trace = append(*trace, stepOf(s, q, l.name, f))
			}
			if f.opinion == silent {
				continue
			}
			spoke = true
			if worst = stricter(worst, f); worst.refusesAll() {
				return worst
			}
		}
		if spoke || !g.sealed {
			continue
		}
		f := silence(s, q)
		if trace != nil {
			*trace = append(*trace, stepOf(s, q, "", f))
		}
		if worst = stricter(worst, f); worst.refusesAll() {
			return worst
		}
	}
	return worst
}

// refusesAll reports whether no other finding can be stricter: what is only masked is
// seen, and another document may hide it.
func (f finding) refusesAll() bool {
	return f.opinion == denied && f.code != pathresolver.RuleMasked
}

// silence is what holds where no document of a principal speaks.
func silence(s stage, q *question) finding {
	switch s {
	case stageTool:
		return finding{opinion: denied, code: CodeToolNotDeclared}
	case stageAction:
		return finding{opinion: denied, code: codeNotGranted}
	case stageACL:
		return q.defaultACL()
	case stageOutside:
		return finding{opinion: denied, code: pathresolver.RuleOutsideRoot}
	case stageRead:
		return finding{opinion: denied, code: pathresolver.RuleNotReadable}
	case stageWrite:
		return finding{opinion: denied, code: pathresolver.RuleNoWritePath}
	}
	return finding{opinion: allowed} // nothing restricts the target; no list restricts the tool
}

// opine is what one layer says in one stage.
func (l *layer) opine(s stage, q *question, at *spelling) finding {
	switch s {
	case stageTool:
		return l.opineTool(q)
	case stageAction:
		return l.opineAction(q)
	case stageTarget:
		return l.opineTarget(q)
	case stageACL:
		return l.acl.opine(q.Resource, q.id)
	case stageOutside:
		return finding{opinion: l.outside.opinion, code: pathresolver.RuleOutsideRoot, rule: l.outside.rule}
	case stageRead:
		return l.opineRead(at)
	case stageWrite:
		return l.opineWrite(at)
	}
	return l.opineToolPath(q.tool, at)
}
