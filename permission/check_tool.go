package permission

import (
	"slices"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// execTools run commands: bash_policy none refuses them.
var execTools = []string{"Bash", "bash_safe", "shell_UNSAFE", "run_python"}

// opineTool is what the layer says about using the tool at all.
func (l *layer) opineTool(q *question) finding {
	if l.bash.opinion == denied && slices.Contains(execTools, q.tool) {
		if t := l.tools[q.tool]; t == nil || t.enabled.opinion != denied {
			return finding{opinion: denied, code: codeNoExecution, rule: l.bash.rule}
		}
	}
	t := l.tools[q.tool]
	if t == nil {
		s := l.defaults[toolUseIndex]
		return finding{opinion: s.opinion, code: codeFor(s.opinion, CodeToolNotDeclared), rule: s.rule}
	}
	if t.enabled.opinion == asked && q.Action == access.AgentDestroy && q.rel.isChild {
		// A parent may destroy its own children without being asked.
		return finding{opinion: allowed, code: CodeAllowed, rule: t.enabled.rule}
	}
	return finding{opinion: t.enabled.opinion, code: codeFor(t.enabled.opinion, codeToolDisabled), rule: t.enabled.rule}
}

var toolUseIndex = plainIndex(access.ToolUse)

func codeFor(o opinion, refused access.Code) access.Code {
	switch o {
	case allowed:
		return CodeAllowed
	case asked:
		return pathresolver.RuleAsk
	}
	return refused
}

// opineAction is what the layer says about an action that is not about files. A layer
// that says at whom it may be aimed allows it there.
func (l *layer) opineAction(q *question) finding {
	i := plainIndex(q.Action)
	f := finding{}
	if t := l.targets[i]; t != nil {
		f = finding{opinion: allowed, code: CodeAllowed, rule: t.rule}
	}
	if s := l.defaults[i]; s.opinion != silent {
		f = stricter(f, finding{opinion: s.opinion, code: codeFor(s.opinion, codeActionDenied), rule: s.rule})
	}
	return f
}

// timeout is the shortest that any layer sets for a tool, in seconds; 0 for
// none.
func (p *Policy) timeout(tool string) int {
	least := 0
	for gi := range p.groups {
		for _, l := range p.groups[gi].layers {
			if t := l.tools[tool]; t != nil && t.timeout > 0 && (least == 0 || t.timeout < least) {
				least = t.timeout
			}
		}
	}
	return least
}

// approvalsOff reports whether a layer says that nobody is to be asked.
func (p *Policy) approvalsOff() bool {
	for gi := range p.groups {
		for _, l := range p.groups[gi].layers {
			if a := l.src.Document.Approvals; a != nil && a.Default == "deny" {
				return true
			}
		}
	}
	return false
}
