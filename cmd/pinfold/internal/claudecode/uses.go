package claudecode

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/pinfold-dev/pinfold/access"
)

// Use is one thing that a call does to a path, which is absolute.
type Use struct {
	Action access.Action
	Path   string
	// Beneath says that everything beneath the path is looked at, and Content
	// that what files hold is shown, not only their names.
	Beneath, Content bool
}

// Effects are what a call of a tool does.
type Effects struct {
	Tool    string // the policy's name for it
	Own     string // the tool's own name, where a policy may have that, too; it counts then
	Uses    []Use
	Command string // of a shell; "" for other tools

	// Talk says that the tool touches nothing but the conversation.
	Talk bool
}

// fileTools are the tools that touch a file: the argument that names it, and
// what is done there.
var fileTools = map[string]struct {
	tool, argument string
	actions        []access.Action
}{
	"Read":         {"Read", "file_path", []access.Action{access.FSRead}},
	"NotebookRead": {"Read", "notebook_path", []access.Action{access.FSRead}},
	"Write":        {"Write", "file_path", []access.Action{access.FSWrite}},
	"Edit":         {"Edit", "file_path", []access.Action{access.FSRead, access.FSWrite}},
	"MultiEdit":    {"Edit", "file_path", []access.Action{access.FSRead, access.FSWrite}},
	"NotebookEdit": {"NotebookEdit", "notebook_path", []access.Action{access.FSRead, access.FSWrite}},
}

// talkTools touch nothing but the conversation.
var talkTools = []string{
	"AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TodoRead", "TodoWrite", "ToolSearch",
}

// shellTools are about shells that Bash has started, and other work behind.
var shellTools = []string{"BashOutput", "KillBash", "KillShell", "TaskOutput", "TaskStop"}

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
		if path, err = from(cwd, path); err != nil {
			return e, err
		}
		for _, action := range file.actions {
			e.use(Use{Action: action, Path: path})
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
		if err == nil {
			path, err = from(cwd, path)
		}
		e.use(Use{Action: access.FSList, Path: path, Beneath: tool == "Grep", Content: tool == "Grep"})
		return e, err
	case tool == "Bash":
		var err error
		e.Command, err = text(input, tool, "command", true)
		return e, err
	case slices.Contains(shellTools, tool):
		e.Tool, e.Own = "Bash", tool
	case tool == "Agent": // as Claude Code calls it since 2.1
		e.Tool, e.Own = "Task", tool
	}
	return e, nil
}

// use adds a use. After a link ".." leads to one place for the kernel, and to
// another for Claude Code, which takes it out of the text: both count.
func (e *Effects) use(u Use) {
	e.Uses = append(e.Uses, u)
	if clean := filepath.Clean(u.Path); slices.Contains(strings.Split(filepath.ToSlash(u.Path), "/"), "..") && clean != u.Path {
		u.Path = clean
		e.Uses = append(e.Uses, u)
	}
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
	// ".." and "/" may also come out of what braces and brackets stand for.
	wild := strings.Join(rest, "/")
	if strings.Contains(wild, "..") || strings.Contains(wild, "{/") || strings.Contains(wild, ",/") || strings.Contains(wild, "[.]") {
		return errors.New("a pattern that climbs after a wildcard leads nobody knows where")
	}
	at := strings.Join(head, "/")
	if at == "" && strings.HasPrefix(pattern, "/") {
		at = "/"
	}
	if path, err = from(cwd, path); err == nil {
		path, err = from(path, at)
	}
	e.use(Use{Action: access.FSList, Path: path, Beneath: true})
	return err
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
// on the way. Claude Code takes ~ for its user's home, and leaves white space
// around a path out: where such a path leads is not said by its text.
func from(base, path string) (string, error) {
	switch {
	case path == "":
		return base, nil
	case path == "~", strings.HasPrefix(path, "~/"), strings.HasPrefix(path, `~\`),
		strings.TrimFunc(path, isSpace) != path:
		return "", errors.New("a path that begins with ~, or has white space around it, is read in more than one way: name the whole path")
	case filepath.IsAbs(path):
		return path, nil
	}
	return base + "/" + path, nil
}

// isSpace reports what JavaScript trims.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }
