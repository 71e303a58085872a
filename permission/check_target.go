package permission

import "strings"

// checkTarget refuses a target that is no agent's id and no session key.
func (q *question) checkTarget() finding {
	switch id := AgentOf(q.Resource); {
	case id == "":
		return finding{opinion: denied, code: CodeMissingTarget}
	case isReserved(id) || len(q.Resource) > maxPath || strings.ContainsFunc(q.Resource, notInKey):
		return finding{opinion: denied, code: CodeInvalidTarget}
	}
	return finding{}
}

func notInKey(r rune) bool { return !idRune(r) && r != ':' }

// relate asks the registry how the target is related to the agent that asks.
func (e Enforcer) relate(q *question) (f finding, bad bool) {
	if q.principal == "" {
		return finding{opinion: denied, code: CodeNoIdentity}, true
	}
	q.id = AgentOf(q.Resource)
	q.rel = relation{}
	if e.Registry == nil {
		return finding{}, false
	}
	parent := e.Registry.Parent(q.principal)
	q.rel.parent = parent
	if q.id == "" || q.id == q.principal {
		return finding{}, false
	}
	its := e.Registry.Parent(q.id)
	q.rel.isParent = parent != "" && q.id == parent
	q.rel.isChild = its == q.principal
	q.rel.isSibling = parent != "" && its == parent
	return finding{}, false
}

// opineTarget is what the layer says about aiming at an agent: what it says
// about the action, and about the tool.
func (l *layer) opineTarget(q *question) finding {
	f := finding{}
	if t := l.targets[plainIndex(q.Action)]; t != nil {
		f = t.opine(q)
	}
	if t := l.tools[q.tool]; t != nil && t.targets != nil {
		f = stricter(f, t.targets.opine(q))
	}
	return f
}

func (t *targetRule) opine(q *question) finding {
	if ok, code := t.allows(q.id, q.rel); !ok {
		return finding{opinion: denied, code: code, rule: t.rule}
	}
	return finding{opinion: allowed, code: CodeAllowed, rule: t.rule}
}
