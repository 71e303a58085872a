package permission

import (
	"fmt"
	"slices"

	"github.com/pinfold-dev/pinfold/access"
)

// exceededBy lists the rules of a layer that grant what the policy does not. They have
// no effect in any case, since the chain only narrows; this is to say so.
func (p *Policy) exceededBy(l *layer) []Excess {
	var list []Excess
	add := func(path, format string, args ...any) {
		list = append(list, Excess{Rule: l.name + ":" + path, Source: l.src.position(path), Message: fmt.Sprintf(format, args...)})
	}
	doc := &l.src.Document
	p.fileExcess(doc, add)
	for _, name := range slices.Sorted(slices.Values(l.toolNames())) {
		path, t := join("tools", name), doc.Tools[name]
		if !t.Enabled {
			continue
		}
		q := question{tool: name}
		if f := p.over(stageTool, &q, nil, nil); f.opinion == denied {
			add(path, "tool '%s' goes beyond what '%s' has", name, p.Name())
		} else if f.opinion == asked && !t.RequiresConfirmation {
			add(path, "tool '%s' needs confirmation in '%s'", name, p.Name())
		}
		for _, o := range p.layers() {
			if r := o.tools[name]; r != nil && r.targets != nil && !t.AllowedTargets.absent() && !t.AllowedTargets.within(r.targets.Targets) {
				add(path+".allowed_targets", "tool '%s' may target %s, and in '%s' only %s", name, t.AllowedTargets.text(), o.name, r.targets.text())
			}
		}
	}
	for _, a := range sorted(doc.Defaults) {
		q := question{Access: access.Access{Action: a}}
		s := stageAction
		if a == access.ToolUse {
			s = stageTool
		}
		if f := p.over(s, &q, nil, nil); opinionOf(doc.Defaults[a]) < f.opinion {
			add(join("defaults", string(a)), "action '%s' is %s, and in '%s' %s", a, doc.Defaults[a], p.Name(), f.effect())
		}
	}
	for _, a := range sorted(doc.Targets) {
		path, t := join("targets", string(a)), doc.Targets[a]
		for _, o := range p.layers() {
			if r := o.targets[plainIndex(a)]; r != nil && !t.within(r.Targets) {
				add(path, "action '%s' may target %s, and in '%s' only %s", a, t.text(), o.name, r.text())
			}
		}
		if q := (question{Access: access.Access{Action: a}}); p.over(stageAction, &q, nil, nil).opinion == denied && !t.within(Targets{IDs: []string{}}) {
			add(path, "action '%s' is not allowed in '%s'", a, p.Name())
		}
	}
	p.networkExcess(l, add)
	if b := p.bashPolicy(); doc.BashPolicy != "" && b != "" && doc.BashPolicy.rank() > b.rank() {
		add("bash_policy", "bash_policy %s goes beyond %s of '%s'", doc.BashPolicy, b, p.Name())
	}
	p.sendExcess(doc, add)
	return list
}

func (p *Policy) fileExcess(doc *Document, add func(path, format string, args ...any)) {
	if doc.FS == nil {
		return
	}
	c := newComparer()
	for _, part := range []struct {
		key   string
		list  []string
		write bool
		ask   bool
	}{{"read", doc.FS.Read, false, false}, {"ask_read", doc.FS.AskRead, false, true}, {"write", doc.FS.Write, true, false}, {"ask_write", doc.FS.AskWrite, true, true}} {
		for i, text := range part.list {
			pat, err := parsePattern(text, false)
			if err != nil {
				continue
			}
			what := "read"
			if part.write {
				what = "written"
			}
			path := fmt.Sprintf("fs.%s[%d]", part.key, i)
			switch p.grants(c, pat, part.write) {
			case denied:
				add(path, "'%s' may not be %s in '%s'", text, what, p.Name())
			case asked:
				if !part.ask {
					add(path, "'%s' may be %s only after asking in '%s'", text, what, p.Name())
				}
			}
		}
	}
	p.unprotectExcess(doc, add)
	if own := opinionOf(doc.FS.Outside); own != silent {
		if has := p.outside(); own < has {
			add("fs.outside", "files outside the project are %s in '%s'", has.effect(), p.Name())
		}
	}
}

// grants is what the chain's lists say about all that a pattern covers: denied
// where some of it may be beyond them.
func (p *Policy) grants(c *comparer, pat pattern, write bool) opinion {
	worst := allowed
	for _, g := range p.groups {
		spoke := !g.sealed
		for _, l := range g.layers {
			fs := l.src.Document.FS
			if fs == nil {
				continue
			}
			list, ask := fs.Read, fs.AskRead
			if write {
				list, ask = fs.Write, fs.AskWrite
			}
			switch {
			case c.covered(pat, ask, true):
				spoke, worst = true, max(worst, asked)
			case list == nil:
			case c.covered(pat, list, false):
				spoke = true
			default:
				return denied
			}
		}
		if !spoke {
			return denied
		}
	}
	return worst
}

// sendExcess compares send ACLs.
func (p *Policy) sendExcess(doc *Document, add func(path, format string, args ...any)) {
	if doc.CrossSend == nil {
		return
	}
	own := compileACL(*doc.CrossSend, nil)
	for _, l := range p.layers() {
		if l.acl == nil || l.acl.mode == Bypass {
			continue
		}
		if own.mode != Allowlist {
			if l.acl.mode != own.mode || !slices.Equal(patternTexts(own.deny.list), patternTexts(l.acl.deny.list)) {
				add("cross_send.mode", "cross_send mode %s goes beyond %s of '%s'", own.mode, l.acl.mode, l.name)
			}
			continue
		}
		for i, pat := range own.allow.list {
			if l.acl.mode == Allowlist && !slices.ContainsFunc(l.acl.allow.list, pat.within) {
				add(fmt.Sprintf("cross_send.allowlist[%d]", i), "sending to '%s' goes beyond the allowlist of '%s'", pat.text, l.name)
			}
		}
	}
}
