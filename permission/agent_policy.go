package permission

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Policy is what the agent may do: what its profile and its front matter both allow.
// The problems are warnings where the two disagree, and notes; Strict turns the
// warnings into errors. opt is as for Compile; opt.FS is where a profile that is a
// file is read.
//
// An agent without a profile has the one of its type, by its name; if the type is not
// known, that is READ_ONLY.
func (a *Agent) Policy(opt Options) (*Policy, []Problem, error) {
	found := slices.Clone(a.notes)
	profile, err := a.profile(&found, opt)
	if err != nil {
		return nil, nil, err
	}
	var layers []*Source
	if a.writePaths != nil {
		layers = append(layers, a.writeLayer())
	}
	p, err := compileWith(profile, opt, layers...)
	if err != nil {
		var we *writeRequiredError
		if errors.As(err, &we) {
			err = &DocumentError{[]Problem{{Position: a.position("profile"), Severity: pathresolver.SeverityError, Code: "write_required", Path: "write_paths", Message: err.Error(), Hint: "add 'write_paths: [DIR]'"}}}
		}
		return nil, nil, err
	}
	a.beyond(&found, profile, opt, layers)
	if a.toolNames != nil || a.disallowed != nil || a.commands != nil {
		a.unknownTools(&found)
		a.commandsBeyond(&found, p, profile.name())
		narrower, excess, err := p.Narrow(a.toolLayer(), Clamp)
		if err != nil {
			return nil, nil, err
		}
		for _, x := range excess {
			if name := strings.TrimPrefix(x.Rule, a.name+":tools."); slices.Contains(a.toolNames, name) && unknownTool(name) == "" {
				x.Message = fmt.Sprintf("tool '%s' goes beyond the profile '%s'", name, profile.name())
				found = append(found, a.mismatch("tool "+name, x))
			}
		}
		p = narrower
	} else if p, _, err = p.Narrow(&Source{File: a.file, Document: Document{Version: 1, Name: a.name}, at: map[string]access.Position{}}, Clamp); err != nil {
		return nil, nil, err
	}
	return p, found, nil
}

// profile is the document that the agent starts from.
func (a *Agent) profile(found *[]Problem, opt Options) (*Source, error) {
	name := a.profileName
	if name == "" {
		name = profileFor(a.name)
		if !knownAgent(a.name) {
			*found = append(*found, Problem{Position: a.position("name"), Severity: pathresolver.SeverityWarning, Code: "unknown_agent", Path: "name",
				Message: fmt.Sprintf("agent '%s' has no profile and is of no known type: it is %s", a.name, DefaultProfile), Hint: "add 'profile: WRITE', or another"})
		}
	}
	src, err := builtin(name)
	if src != nil || err != nil {
		return src, err
	}
	// A file beside the definition: found as `extends` finds it.
	ref := &Source{File: a.file, Document: Document{Version: 1, Extends: name}, at: map[string]access.Position{"extends": a.position("profile")}}
	chain, err := extended(ref, opt.FS)
	if err != nil {
		var de *DocumentError
		if errors.As(err, &de) {
			for i := range de.Problems {
				de.Problems[i].Message = strings.Replace(de.Problems[i].Message, "extends:", "profile:", 1)
			}
		}
		return nil, err
	}
	return chain[len(chain)-2], nil
}

func knownAgent(name string) bool {
	src, err := decodeBuiltin("agents")
	if err != nil {
		return false
	}
	_, known := src.Document.Roles[name]
	return known
}

// beyond reports write paths that the profile does not have.
func (a *Agent) beyond(found *[]Problem, profile *Source, opt Options, layers []*Source) {
	base, err := Compile(profile, Options{Root: opt.Root, FS: opt.FS})
	if err != nil || !slices.ContainsFunc(base.layers(), func(l *layer) bool { return l.write != nil }) {
		return // the profile leaves its write paths to the agent
	}
	for _, src := range layers {
		rooted, err := src.rooted(opt.Root)
		if err != nil {
			return
		}
		for _, x := range base.exceededBy(compileLayer(rooted)) {
			*found = append(*found, a.mismatch(strings.Replace(strings.TrimPrefix(x.Rule, a.name+":"), "fs.write", "write_paths", 1), x))
		}
	}
}

// commandsBeyond reports commands of Bash that the profile does not have, and those
// that go further than its own. A profile without a list leaves them to the agent.
func (a *Agent) commandsBeyond(found *[]Problem, p *Policy, profile string) {
	has := p.bashCommands()
	if has == nil {
		return
	}
	for _, c := range a.commands {
		if begins(c, has) {
			continue
		}
		left := "none of it"
		if some := slices.DeleteFunc(slices.Clone(has), func(h string) bool { return !begins(h, []string{c}) }); len(some) > 0 {
			left = "'" + strings.Join(some, "', '") + "'"
		}
		*found = append(*found, Problem{Position: a.position("command " + c), Severity: pathresolver.SeverityWarning, Code: "beyond_profile", Path: "tools",
			Message: fmt.Sprintf("command '%s' of Bash goes beyond the profile '%s'", c, profile), Hint: "the profile decides, and leaves " + left})
	}
}

func (a *Agent) mismatch(path string, x Excess) Problem {
	return Problem{Position: a.position(path), Severity: pathresolver.SeverityWarning, Code: "beyond_profile", Path: path, Message: x.Message, Hint: "the profile decides: it is left out"}
}

// unknownTools reports tools that no known program has.
func (a *Agent) unknownTools(found *[]Problem) {
	for _, name := range slices.Concat(a.toolNames, a.disallowed) {
		if hint := unknownTool(name); hint != "" {
			*found = append(*found, Problem{Position: a.position("tool " + name), Severity: pathresolver.SeverityWarning, Code: "unknown_tool", Path: "tools",
				Message: fmt.Sprintf("unknown tool '%s'", name), Hint: hint})
		}
	}
}

func (a *Agent) position(path string) access.Position {
	if at, ok := a.at[path]; ok {
		return at
	}
	if strings.HasPrefix(path, "tool ") || strings.HasPrefix(path, "command ") {
		return a.position("tools")
	}
	if cut := strings.LastIndexAny(path, ".["); cut > 0 {
		return a.position(path[:cut])
	}
	return access.Position{File: a.file, Line: 1, Column: 1}
}

// writeLayer is the agent's write_paths as a document.
func (a *Agent) writeLayer() *Source {
	src := &Source{File: a.file, Document: Document{Version: 1, Name: a.name, FS: &FS{Write: a.writePaths}}, at: map[string]access.Position{"fs.write": a.position("write_paths")}}
	for i := range a.writePaths {
		src.at[fmt.Sprintf("fs.write[%d]", i)] = a.position(fmt.Sprintf("write_paths[%d]", i))
	}
	return src
}

// toolLayer is the agent's tools as a document: what it lists, with the skills
// that do the same, and nothing else.
func (a *Agent) toolLayer() *Source {
	doc := Document{Version: 1, Name: a.name, Tools: map[string]Tool{}, BashCommands: a.commands}
	src := &Source{File: a.file, at: map[string]access.Position{"tools": a.position("tools")}}
	set := func(name string, enabled bool) {
		for _, n := range append([]string{name}, sameTools[name]...) {
			doc.Tools[n] = Tool{Enabled: enabled}
			src.at["tools."+n] = a.position("tool " + name)
		}
	}
	for _, name := range a.toolNames {
		set(name, true)
	}
	for _, name := range a.disallowed {
		set(toolName(name), false)
	}
	if a.toolNames != nil {
		doc.Defaults = map[access.Action]access.Effect{access.ToolUse: access.Deny}
		src.at["defaults.tool.use"] = a.position("tools")
	}
	src.Document = doc
	return src
}
