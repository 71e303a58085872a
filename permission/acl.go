package permission

import (
	"strings"

	"github.com/pinfold-dev/pinfold/access"
)

// sendACL is a compiled send ACL.
type sendACL struct {
	mode        Mode
	allow, deny sessionIndex
	rule        *rule
}

func compileACL(x CrossSend, r *rule) *sendACL {
	a := &sendACL{mode: x.Mode, rule: r}
	for _, list := range []struct {
		from []string
		to   *sessionIndex
	}{{x.Allowlist, &a.allow}, {x.Denylist, &a.deny}} {
		var patterns []sessionPattern
		for _, text := range list.from {
			if p, err := parseSessionPattern(text); err == nil {
				patterns = append(patterns, p)
			}
		}
		*list.to = newSessionIndex(patterns)
	}
	return a
}

// opine is what the ACL says about a target; a nil one says nothing. An id without a
// session stands for the agent's main session.
func (a *sendACL) opine(target, id string) finding {
	if a == nil {
		return finding{}
	}
	if !strings.HasPrefix(target, "agent:") {
		target = "agent:" + id + ":main"
	}
	switch a.mode {
	case Bypass:
		return finding{opinion: allowed, code: CodeAllowed, rule: a.rule, acl: a}
	case Denylist:
		if p, hit := a.deny.match(target); hit {
			return finding{opinion: denied, code: CodeCrossSend, rule: a.rule, acl: a, hit: p.text}
		}
		return finding{opinion: allowed, code: CodeAllowed, rule: a.rule, acl: a}
	case Allowlist:
		if p, hit := a.allow.match(target); hit {
			return finding{opinion: allowed, code: CodeAllowed, rule: a.rule, acl: a, hit: p.text}
		}
	}
	return finding{opinion: denied, code: CodeCrossSend, rule: a.rule, acl: a}
}

// defaultACL holds where no document has a send ACL: an agent may send to its parent
// and to its own sessions.
func (q *question) defaultACL() finding {
	if q.id == q.principal || q.rel.isParent {
		return finding{opinion: allowed, code: CodeAllowed}
	}
	return finding{opinion: denied, code: CodeCrossSend}
}

// crossSendText is the refusal of a message that no list lets through, with the list.
func (p *Policy) crossSendText(d *access.Decision) string {
	q := question{Access: d.Access, principal: d.Principal, id: AgentOf(d.Resource)}
	q.rel.parent, q.rel.isParent = d.Parent, d.Parent != "" && q.id == d.Parent
	f := p.over(stageACL, &q, nil, nil) // what refused
	mode, title, list := Allowlist, "Allowed patterns:", []string{}
	switch {
	case f.acl == nil:
		if d.Parent != "" {
			list = append(list, "agent:"+d.Parent+":*")
		}
		list = append(list, "agent:"+d.Principal+":*")
	case f.acl.mode == Denylist:
		mode, title, list = Denylist, "Denied patterns:", patternTexts(f.acl.deny.list)
	default:
		list = patternTexts(f.acl.allow.list)
	}
	if len(list) == 0 {
		list = []string{"(none)"}
	}
	var b strings.Builder
	b.WriteString(`[ERROR] Permission denied: agent "` + d.Principal + `" cannot send to "` + d.Resource + "\"\n\n")
	b.WriteString("Agent cross_send config: " + string(mode) + " mode\n" + title + "\n")
	for _, p := range list {
		b.WriteString("  - " + p + "\n")
	}
	b.WriteString("\nTarget \"" + d.Resource + "\" ")
	if mode == Denylist {
		b.WriteString(`matches denied pattern "` + f.hit + `".`)
	} else {
		b.WriteString("does not match any allowed pattern.")
	}
	return b.String()
}

func patternTexts(list []sessionPattern) []string {
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = p.text
	}
	return texts
}
