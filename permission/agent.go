package permission

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/didyoumean"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Agent is an agent definition: a Markdown file whose YAML front matter says
// what the agent is called, which tools it has and where it may write.
type Agent struct {
	file        string
	name        string   // name
	description string   // description
	model       string   // model
	profileName string   // profile: a preset, a profile or a file beside this one; "" if absent
	toolNames   []string // tools, without the parentheses; nil if absent
	disallowed  []string // disallowedTools
	commands    []string // what Bash(...) among the tools names, such as "git add"
	writePaths  []string // write_paths; nil if absent

	// extra are the fields of other vendors, which mean nothing here.
	extra []extraField

	// notes are remarks on a file that was read, such as a key that is almost one of
	// ours.
	notes []Problem

	at map[string]access.Position
}

// extraField is a field that is kept and ignored.
type extraField struct {
	key, value string
	position   access.Position
}

// ownKeys are the fields that mean something here.
var ownKeys = []string{"name", "description", "tools", "disallowedTools", "model", "profile", "write_paths"}

// vendorKeys are fields of other vendors that look like a misspelling of one of ours
// and are not.
var vendorKeys = []string{"hooks", "mode", "models", "skills", "toolsets"}

// ParseAgent reads an agent definition. The front matter is read as strictly as
// a policy, but for the fields of other vendors, and for a description with a
// colon in it, which is common and grants nothing.
func ParseAgent(file string, data []byte) (*Agent, error) {
	a, err := parseAgent(file, data)
	if err != nil {
		return nil, err
	}
	return a, nil
}

// parseAgent is ParseAgent; beside its error it returns what could be read of a
// definition that is refused.
func parseAgent(file string, data []byte) (*Agent, error) {
	ps := &problems{file: file}
	a := &Agent{file: file, at: map[string]access.Position{}}
	front, ok := frontMatter(ps, data)
	if ok {
		if tree, ok := parse(ps, a.quoteDescription(front)); ok {
			a.decode(ps, tree.root)
		}
	}
	return a, ps.err()
}

// frontMatter returns what stands between the first line, which must be ---,
// and the next one. That line is left empty, so that lines keep their numbers.
func frontMatter(ps *problems, data []byte) ([]byte, bool) {
	bad := func(line int, message, hint string) ([]byte, bool) {
		ps.add(Problem{Position: access.Position{Line: line, Column: 1}, Code: "front_matter", Message: message, Hint: hint})
		return nil, false
	}
	if len(data) > maxAgent {
		return bad(1, fmt.Sprintf("the agent definition has %d bytes; at most %d are read", len(data), maxAgent), "")
	}
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if string(bytes.TrimRight(first, " \t\r")) != "---" {
		return bad(1, "the agent definition has no front matter", "begin with a line ---, then name: and tools:, then a line ---")
	}
	front := []byte("\n")
	for len(rest) > 0 {
		line, tail, _ := bytes.Cut(rest, []byte("\n"))
		if string(bytes.TrimRight(line, " \t\r")) == "---" {
			return front, true
		}
		front = append(append(front, bytes.TrimSuffix(line, []byte("\r"))...), '\n')
		rest = tail
	}
	return bad(1, "the front matter does not end", "end it with a line ---")
}

// quoteDescription quotes a description that YAML would misread.
func (a *Agent) quoteDescription(front []byte) []byte {
	lines := strings.Split(string(front), "\n")
	for i, line := range lines {
		value, ok := strings.CutPrefix(line, "description: ")
		value = strings.TrimSpace(value)
		if !ok || value == "" || strings.ContainsRune(`"'|>`, rune(value[0])) {
			continue
		}
		if strings.Contains(value, ": ") || strings.Contains(value, " #") || strings.ContainsRune("[]{},&*!%@`", rune(value[0])) {
			lines[i] = "description: " + jsonText(value)
			a.notes = append(a.notes, Problem{Position: access.Position{File: a.file, Line: i + 1, Column: 1}, Severity: SeverityNote, Code: "unquoted", Path: "description",
				Message: "the description is no valid YAML; it is read as it stands", Hint: "quote it, or write it after 'description: |'"})
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

func (a *Agent) decode(ps *problems, root ast.Node) {
	d := &decoder{ps: ps, at: a.at}
	if root == nil {
		ps.add(Problem{Position: access.Position{Line: 1, Column: 1}, Code: "missing_key", Path: "name", Message: "the front matter is empty", Hint: "add 'name:'"})
		return
	}
	list, ok := d.entries("", root)
	if !ok {
		return
	}
	for _, e := range list {
		switch e.key {
		case "name":
			a.name, _ = d.text("name", e.value)
		case "description":
			a.description, _ = d.text("description", e.value)
		case "model":
			a.model, _ = d.text("model", e.value)
		case "profile":
			a.profileName, _ = d.text("profile", e.value)
		case "tools":
			a.toolNames = a.tools(d, e)
		case "disallowedTools":
			a.disallowed = a.names(d, e, true)
		case "write_paths":
			a.writePaths = a.names(d, e, false)
		default:
			a.ignore(ps, e)
		}
	}
	a.validate(ps)
}

// ignore keeps a field of another vendor; one that is almost ours is a warning.
func (a *Agent) ignore(ps *problems, e entry) {
	at := positionOf(ps.file, e.node)
	a.extra = append(a.extra, extraField{key: e.key, value: e.value.String(), position: at})
	note := Problem{Position: at, Severity: SeverityNote, Code: "ignored_field", Path: e.key, Message: fmt.Sprintf("field '%s' means nothing here and is ignored", e.key)}
	if w := didyoumean.Word(e.key, ownKeys); w != "" && !slices.Contains(vendorKeys, e.key) {
		note.Severity, note.Code, note.Hint = pathresolver.SeverityWarning, "unknown_key", "did you mean '"+w+"'?"
	}
	a.notes = append(a.notes, note)
}

func (a *Agent) validate(ps *problems) {
	src := &Source{File: a.file, at: a.at}
	v := &validator{ps: ps, src: src}
	if a.name == "" {
		ps.add(Problem{Position: access.Position{Line: 1, Column: 1}, Code: "missing_key", Path: "name", Message: "key 'name' is missing"})
	} else {
		v.agentID("name", a.name)
	}
	v.plain("profile", a.profileName)
	v.patterns("write_paths", a.writePaths, true)
}
