package permission

import (
	"strings"

	"github.com/pinfold-dev/pinfold/internal/globs"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// file asks the rules about files.
func (p *Policy) file(q *question, writes bool, trace *[]policies.Step) finding {
	where := placeKind(q.Resource)
	if where == notAPlace {
		return finding{opinion: denied, code: pathresolver.RuleInvalidPath}
	}
	var exact, folded [512]byte // so that a place of usual length allocates nothing
	at := spelling{append(exact[:0], q.Resource...), globs.AppendFold(folded[:0], q.Resource)}
	if where == outsidePlace {
		return p.over(stageOutside, q, &at, trace)
	}
	worst := p.over(stageRead, q, &at, trace)
	if writes && worst.opinion != denied {
		if r := p.always.covers(at.folded); r != nil {
			return finding{opinion: denied, code: pathresolver.RuleProtected, rule: r}
		}
		worst = stricter(worst, p.over(stageWrite, q, &at, trace))
		if worst.opinion != denied {
			if r := p.trustedRule(q.Resource); r != nil {
				return finding{opinion: denied, code: pathresolver.RuleProtected, rule: r}
			}
		}
	}
	if q.tool != "" && worst.opinion != denied {
		f := p.over(stageToolPath, q, &at, trace)
		if f.opinion > worst.opinion {
			worst = f
		}
	}
	return worst
}

// opineRead is what the layer says about reading a place. What is masked is refused here:
// who reads by a policy reads the file itself, and only a view puts stand-ins there.
func (l *layer) opineRead(at *spelling) finding {
	f := l.opineUnmasked(at)
	if r := l.mask.covers(at.folded); r != nil && f.opinion != denied {
		return finding{opinion: denied, code: pathresolver.RuleMasked, rule: r}
	}
	return f
}

// opineUnmasked is opineRead without what is masked.
func (l *layer) opineUnmasked(at *spelling) finding {
	if r := l.hide.covers(at.folded); r != nil {
		return finding{opinion: denied, code: pathresolver.RuleHidden, rule: r}
	}
	if r := l.askRead.covers(at.folded); r != nil {
		return finding{opinion: asked, code: pathresolver.RuleAsk, rule: r}
	}
	if l.read == nil {
		return finding{}
	}
	if r := l.read.covers(at.exact); r != nil {
		return finding{opinion: allowed, code: CodeAllowed, rule: r}
	}
	return finding{opinion: denied, code: pathresolver.RuleNotReadable, rule: l.readList}
}

// opineWrite is what the layer says about changing a place.
func (l *layer) opineWrite(at *spelling) finding {
	if r := l.protect.covers(at.folded); r != nil {
		return finding{opinion: denied, code: pathresolver.RuleProtected, rule: r}
	}
	if r := l.askWrite.covers(at.folded); r != nil {
		return finding{opinion: asked, code: pathresolver.RuleAsk, rule: r}
	}
	if l.write == nil {
		return finding{}
	}
	if r := l.write.covers(at.exact); r != nil {
		return finding{opinion: allowed, code: CodeAllowed, rule: r}
	}
	return finding{opinion: denied, code: pathresolver.RuleNoWritePath, rule: l.writeList}
}

// opineToolPath is what a layer's allowed_paths for a tool say about a place.
func (l *layer) opineToolPath(tool string, at *spelling) finding {
	t := l.tools[tool]
	if t == nil || t.paths == nil {
		return finding{}
	}
	if r := t.paths.covers(at.exact); r != nil {
		return finding{opinion: allowed, code: CodeAllowed, rule: r}
	}
	return finding{opinion: denied, code: codeToolPath, rule: t.list}
}

// kind of a file's resource.
type kind uint8

const (
	notAPlace kind = iota
	aPlace
	outsidePlace
)

// placeKind tells places from paths outside the root, and both from what is
// neither: a path that is not clean has not been resolved.
func placeKind(s string) kind {
	if s == "." {
		return aPlace
	}
	if s == "" || len(s) > maxPath || strings.IndexByte(s, 0) >= 0 {
		return notAPlace
	}
	result, rest := aPlace, s
	if s[0] == '/' {
		if s == "/" {
			return outsidePlace
		}
		result, rest = outsidePlace, s[1:]
	}
	for up := s[0] != '/'; ; {
		name, tail, more := strings.Cut(rest, "/")
		switch name {
		case "", ".":
			return notAPlace
		case "..":
			if !up {
				return notAPlace
			}
			result = outsidePlace
		default:
			up = false
		}
		if !more {
			return result
		}
		rest = tail
	}
}
