package claudecode

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/permission"
)

// Use is one thing that a call does to a path, which is absolute.
type Use struct {
	Action permission.Action
	Path   string
	// Beneath says that everything beneath the path is looked at, and Content
	// that what files hold is shown, not only their names.
	Beneath, Content bool
}

// Effects are what a call of a tool does.
type Effects struct {
	Tool    string // the policy's name for it
	Uses    []Use
	Command string // of a shell; "" for other tools

	// Talk says that the tool touches nothing but the conversation.
	Talk bool
}

// fileTools are the tools that touch a file: the argument that names it, and
// what is done there.
var fileTools = map[string]struct {
	tool, argument string
	actions        []permission.Action
}{
	"Read":         {"Read", "file_path", []permission.Action{permission.FSRead}},
	"NotebookRead": {"Read", "notebook_path", []permission.Action{permission.FSRead}},
	"Write":        {"Write", "file_path", []permission.Action{permission.FSWrite}},
	"Edit":         {"Edit", "file_path", []permission.Action{permission.FSRead, permission.FSWrite}},
	"MultiEdit":    {"Edit", "file_path", []permission.Action{permission.FSRead, permission.FSWrite}},
	"NotebookEdit": {"NotebookEdit", "notebook_path", []permission.Action{permission.FSRead, permission.FSWrite}},
}

// talkTools touch nothing but the conversation.
var talkTools = []string{"AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "TodoRead", "TodoWrite", "ToolSearch"}

// shellTools are about shells that Bash has started.
var shellTools = []string{"BashOutput", "KillBash", "KillShell"}

// EffectsOf says what a call does. cwd is what its paths are relative to.
func EffectsOf(tool string, input json.RawMessage, cwd string) (Effects, error) {
	e := Effects{Tool: tool, Talk: slices.Contains(talkTools, tool)}
	if tool == "" {
		return e, errors.New("no tool is named")
	}
	if file, ok := fileTools[tool]; ok {
		e.Tool = file.tool
		path, err := text(input, tool, file.argument, true)
		if err != nil {
			return e, err
		}
		for _, action := range file.actions {
			e.Uses = append(e.Uses, Use{Action: action, Path: from(cwd, path)})
		}
		return e, nil
	}
	switch {
	case tool == "Glob":
		return e, e.glob(input, cwd)
	case tool == "Grep" || tool == "LS":
		path, err := text(input, tool, "path", tool == "LS")
		if tool == "LS" {
			e.Tool = "Glob"
		}
		e.Uses = []Use{{Action: permission.FSList, Path: from(cwd, path), Beneath: tool == "Grep", Content: tool == "Grep"}}
		return e, err
	case tool == "Bash":
		var err error
		e.Command, err = text(input, tool, "command", true)
		return e, err
	case slices.Contains(shellTools, tool):
		e.Tool, e.Talk = "Bash", false
	}
	return e, nil
}

// glob is about the directory that a pattern begins at, before its first
// wildcard: it may be another than path.
func (e *Effects) glob(input json.RawMessage, cwd string) error {
	path, err := text(input, "Glob", "path", false)
	if err != nil {
		return err
	}
	pattern, err := text(input, "Glob", "pattern", true)
	if err != nil {
		return err
	}
	var head []string
	rest := strings.Split(filepath.ToSlash(pattern), "/")
	for len(rest) > 0 && !strings.ContainsAny(rest[0], `*?[{\!(@+`) {
		head, rest = append(head, rest[0]), rest[1:]
	}
	if slices.Contains(rest, "..") {
		return errors.New("a pattern that climbs after a wildcard leads nobody knows where")
	}
	at := strings.Join(head, "/")
	if at == "" && strings.HasPrefix(pattern, "/") {
		at = "/"
	}
	e.Uses = []Use{{Action: permission.FSList, Path: from(from(cwd, path), at), Beneath: true}}
	return nil
}

// text is an argument that is a string. One that is missing is "" where it need
// not be there.
func text(input json.RawMessage, tool, name string, must bool) (string, error) {
	var args map[string]json.RawMessage
	if err := json.Unmarshal(input, &args); err != nil {
		return "", fmt.Errorf("%s: the input is no object", tool)
	}
	var value *string
	if raw, given := args[name]; given {
		if err := json.Unmarshal(raw, &value); err != nil {
			return "", fmt.Errorf("%s: %s is no string", tool, name)
		}
	}
	switch {
	case value == nil && must, value != nil && *value == "" && must:
		return "", fmt.Errorf("%s: no %s is given", tool, name)
	case value == nil:
		return "", nil
	}
	return *value, nil
}

// from makes a path absolute. It is not cleaned: what ".." leads to is decided
// on the way.
func from(base, path string) string {
	switch {
	case path == "":
		return base
	case filepath.IsAbs(path):
		return path
	}
	return base + "/" + path
}
