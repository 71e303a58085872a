package permission

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/didyoumean"
)

// Agent is an agent definition: a Markdown file whose YAML front matter says
// what the agent is called, which tools it has and where it may write.
type Agent struct {
	File        string
	Name        string   // name
	Description string   // description
	Model       string   // model
	Profile     string   // profile: a preset, a profile or a file beside this one; "" if absent
	Tools       []string // tools, without the parentheses; nil if absent
	Disallowed  []string // disallowedTools
	Commands    []string // what Bash(...) among the tools names, such as "git add"
	WritePaths  []string // write_paths; nil if absent

	// Extra are the fields of other vendors, which mean nothing here.
	Extra []Extra

	// Notes are remarks on a file that was read, such as a key that is almost one of
	// ours.
	Notes []Problem

	at map[string]access.Position
}

// Extra is a field that is kept and ignored.
type Extra struct {
	Key, Value string
	Position   access.Position
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
	a := &Agent{File: file, at: map[string]access.Position{}}
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
			a.Notes = append(a.Notes, Problem{Position: access.Position{File: a.File, Line: i + 1, Column: 1}, Severity: Note, Code: "unquoted", Path: "description",
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
			a.Name, _ = d.text("name", e.value)
		case "description":
			a.Description, _ = d.text("description", e.value)
		case "model":
			a.Model, _ = d.text("model", e.value)
		case "profile":
			a.Profile, _ = d.text("profile", e.value)
		case "tools":
			a.Tools = a.tools(d, e)
		case "disallowedTools":
			a.Disallowed = a.names(d, e, true)
		case "write_paths":
			a.WritePaths = a.names(d, e, false)
		default:
			a.ignore(ps, e)
		}
	}
	a.validate(ps)
}

// ignore keeps a field of another vendor; one that is almost ours is a warning.
func (a *Agent) ignore(ps *problems, e entry) {
	at := positionOf(ps.file, e.node)
	a.Extra = append(a.Extra, Extra{Key: e.key, Value: e.value.String(), Position: at})
	note := Problem{Position: at, Severity: Note, Code: "ignored_field", Path: e.key, Message: fmt.Sprintf("field '%s' means nothing here and is ignored", e.key)}
	if w := didyoumean.Word(e.key, ownKeys); w != "" && !slices.Contains(vendorKeys, e.key) {
		note.Severity, note.Code, note.Hint = Warning, "unknown_key", "did you mean '"+w+"'?"
	}
	a.Notes = append(a.Notes, note)
}

func (a *Agent) validate(ps *problems) {
	src := &Source{File: a.File, at: a.at}
	v := &validator{ps: ps, src: src}
	if a.Name == "" {
		ps.add(Problem{Position: access.Position{Line: 1, Column: 1}, Code: "missing_key", Path: "name", Message: "key 'name' is missing"})
	} else {
		v.agentID("name", a.Name)
	}
	v.plain("profile", a.Profile)
	v.patterns("write_paths", a.WritePaths, true)
}
