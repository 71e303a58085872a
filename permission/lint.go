package permission

import (
	"fmt"
	"slices"

	"github.com/pinfold-dev/pinfold/internal/globs"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// lint finds rules that do nothing, or not what was meant, in the documents of
// a policy. They are warnings: the policy stands. Built-in documents have none.
func (p *Policy) lint() []Problem {
	var found []Problem
	for _, l := range p.layers() {
		if isBuiltin(l.src) {
			continue
		}
		for _, problem := range p.lintLayer(l) {
			problem.Severity = pathresolver.SeverityWarning
			found = append(found, problem)
		}
	}
	return found
}

func (p *Policy) lintLayer(l *layer) []Problem {
	var found []Problem
	add := func(code, path, hint, format string, args ...any) {
		found = append(found, Problem{Position: l.src.position(path), Code: code, Path: path, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	doc := &l.src.Document
	if fs := doc.FS; fs != nil {
		c := newComparer()
		c.left = maxCompared
		p.lintWrites(l, c, add)
		p.lintHides(l, c, add)
		lintUnprotect(fs, add)
		for _, list := range []struct {
			key  string
			list []string
		}{{"read", fs.Read}, {"write", fs.Write}, {"ask_read", fs.AskRead}, {"ask_write", fs.AskWrite}, {"hide", fs.Hide}, {"mask", fs.Mask}, {"protect", fs.Protect}} {
			lintList(list.key, list.list, c, add)
		}
		if c.tooMany() {
			add("too_many_rules", "fs", "begin globs with a directory", "so many globs begin with a wildcard that not all of them were compared with each other")
		}
	}
	l.network.lint(add)
	for _, name := range sorted(doc.Tools) {
		path, t := join("tools", name), doc.Tools[name]
		if hint := unknownTool(name); hint != "" {
			add("unknown_tool", path, hint, "unknown tool '%s'", name)
		}
		if t.AllowedPaths != nil && len(t.AllowedPaths) == 0 && t.Enabled {
			add("empty_list", path+".allowed_paths", "leave the key out for no restriction, or disable the tool", "tool '%s' may touch no path", name)
		}
		if t.AllowedTargets.Word == "" && t.AllowedTargets.IDs != nil && len(t.AllowedTargets.IDs) == 0 && t.Enabled {
			add("empty_list", path+".allowed_targets", "leave the key out for no restriction, or disable the tool", "tool '%s' may target nobody", name)
		}
	}
	if x := doc.CrossSend; x != nil && x.Mode == Allowlist && len(x.Allowlist) == 0 {
		add("empty_list", "cross_send.allowlist", "leave cross_send out for the parent and the agent's own sessions", "an empty allowlist lets nothing be sent")
	}
	p.lintAgainstBase(l, add)
	return found
}

type addProblem func(code, path, hint, format string, args ...any)

// lintWrites finds write paths that another rule of the chain closes.
func (p *Policy) lintWrites(l *layer, c *comparer, add addProblem) {
	fs := l.src.Document.FS
	for _, part := range []struct {
		key  string
		list []string
	}{{"write", fs.Write}, {"ask_write", fs.AskWrite}} {
		for i, text := range part.list {
			pat, err := parsePattern(text, false)
			if err != nil {
				continue
			}
			path := fmt.Sprintf("fs.%s[%d]", part.key, i)
			for _, o := range p.layers() {
				of := o.src.Document.FS
				if of == nil {
					continue
				}
				if c.covered(pat, of.Hide, true) {
					add("unreachable_rule", path, "drop it, or hide less", "'%s' is hidden by '%s', so it cannot be written", text, o.name)
				} else if c.covered(pat, of.Mask, true) {
					add("unreachable_rule", path, "drop it, or mask less", "'%s' is masked by '%s', so it cannot be written", text, o.name)
				} else if c.covered(pat, of.Protect, true) {
					add("unreachable_rule", path, "drop it, or protect less", "'%s' is protected by '%s', so it cannot be written", text, o.name)
				}
			}
			if r := p.always.covers([]byte(globs.Fold(pat.String()))); r != nil && pat.Len() > 0 {
				add("unreachable_rule", path, "", "'%s' is always protected, so it cannot be written", text)
			}
		}
	}
}

// lintList finds entries that an earlier or wider one of the same list covers.
func lintList(key string, list []string, c *comparer, add addProblem) {
	of := c.list(list, key != "read" && key != "write")
	for i, text := range list {
		pat := of.patterns[i]
		if pat == nil {
			continue
		}
		wider := func(j int) bool { return i != j && (j < i || !of.patterns[j].within(*pat)) }
		if j := c.first(*pat, of, wider); j >= 0 {
			code := "redundant_rule"
			if key == "hide" {
				code = "hides_nothing"
			}
			add(code, fmt.Sprintf("fs.%s[%d]", key, i), "drop it", "'%s' is covered by '%s' already", text, list[j])
		}
	}
}

// lintAgainstBase finds grants of a document that what it extends does not
// have: they have no effect.
func (p *Policy) lintAgainstBase(l *layer, add addProblem) {
	for _, g := range p.groups {
		i := slices.Index(g.layers, l)
		if i <= 0 {
			continue
		}
		base := newPolicy(p.root, p.always, []group{newGroup(g.layers[:i], false)})
		for _, x := range base.exceededBy(l) {
			path := x.Rule[len(l.name)+1:]
			add("unreachable_rule", path, "rules only narrow what is extended: extend something wider, or drop it", "%s", x.Message)
		}
	}
}
