package permission

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml/ast"

	"github.com/pinfold-dev/pinfold/internal/didyoumean"
	"github.com/pinfold-dev/pinfold/internal/policies"
)

// tools reads the tools of an agent: a list, or one string with commas, as the
// agents of several vendors have it. Bash(git add:*) is the tool Bash with a
// command. A lone * is all that the profile has, as an absent key is.
func (a *Agent) tools(d *decoder, e entry) []string {
	names := []string{}
	for i, item := range a.names(d, e, true) {
		name, args, found := strings.Cut(item, "(")
		name = strings.TrimSpace(name)
		if name == "*" {
			return nil
		}
		name = toolName(name)
		if found && name == "Bash" {
			args = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(args), ")"), "*"), ":"))
			if args != "" {
				a.commands = append(a.commands, args)
				a.at["command "+args] = a.at[fmt.Sprintf("tools[%d]", i)]
			}
		}
		if !slices.Contains(names, name) {
			a.at[fmt.Sprintf("tool %s", name)] = a.at[fmt.Sprintf("tools[%d]", i)]
			names = append(names, name)
		}
	}
	return names
}

// toolName is what a policy calls a tool of a definition.
func toolName(name string) string {
	if name == "Agent" {
		return "Task" // which Claude Code calls so since 2.1
	}
	return name
}

// names reads a list of strings, or one string with commas. Commas within
// parentheses are part of a name.
func (a *Agent) names(d *decoder, e entry, commas bool) []string {
	path := e.key
	if seq, ok := e.value.(*ast.SequenceNode); ok {
		list := make([]string, 0, len(seq.Values))
		for i, item := range seq.Values {
			at := fmt.Sprintf("%s[%d]", path, i)
			a.at[at] = positionOf(d.ps.file, item)
			s, _ := d.text(at, item) // one of another type is an empty string, so that the others keep their index
			list = append(list, strings.TrimSpace(s))
		}
		return list
	}
	if _, empty := e.value.(*ast.NullNode); empty {
		d.problem(e.value, "wrong_type", path, path+" is empty", "leave the key out for all that the profile has, or write [] for nothing")
		return nil
	}
	s, ok := d.text(path, e.value)
	if !ok {
		return nil
	}
	if !commas {
		a.at[path+"[0]"] = positionOf(d.ps.file, e.value)
		return []string{s}
	}
	list := splitCommas(s)
	for i := range list {
		a.at[fmt.Sprintf("%s[%d]", path, i)] = positionOf(d.ps.file, e.value)
	}
	return list
}

func splitCommas(s string) []string {
	list, depth, start := []string{}, 0, 0
	add := func(part string) {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	for i, c := range s {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth <= 0:
			add(s[start:i])
			start = i + 1
		}
	}
	add(s[start:])
	return list
}

// sameTools are the skills that do what a tool of an agent's own command line does. An
// agent that has the tool has these, too.
var sameTools = map[string][]string{
	"Read":  {"read_file", "file_info", "list_directory"},
	"Grep":  {"grep", "search_text"},
	"Glob":  {"glob", "list_directory"},
	"Write": {"write_file", "append_file", "mkdir", "copy_file", "rename", "delete_file"},
	"Edit":  {"edit_file", "edit_file_batch", "append_file", "regex_replace", "apply_patch"},
	"Bash":  {"bash_safe"},
}

// otherTools are names that real definitions have and no profile grants.
var otherTools = []string{
	"Agent", "AskUserQuestion", "BashOutput", "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "EnterWorktree",
	"ExitPlanMode", "ExitWorktree", "KillShell", "LS", "LSP", "ListMcpResourcesTool", "Monitor", "MultiEdit", "NotebookRead",
	"PowerShell", "ReadMcpResourceTool", "ReportFindings", "ScheduleWakeup", "SendMessage", "Skill", "SlashCommand",
	"TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "ToolSearch", "Workflow",
}

// knownTools are the tools that a document can mean, without those of MCP
// servers, which begin with mcp__.
var knownTools = sync.OnceValue(func() []string {
	known := slices.Concat(policies.ClaudeTools(), otherTools)
	for _, name := range Builtins() {
		if src, err := decodeBuiltin(name); err == nil {
			known = append(known, sorted(src.Document.Tools)...)
		}
	}
	slices.Sort(known)
	return slices.Compact(known)
})

// unknownTool says that no tool of that name is known, and which is meant:
// "" if it is known.
func unknownTool(name string) (hint string) {
	known := knownTools()
	if strings.HasPrefix(name, "mcp__") || slices.Contains(known, name) {
		return ""
	}
	if w := didyoumean.Word(name, known); w != "" {
		return "did you mean '" + w + "'?"
	}
	return "tools of an MCP server are called mcp__SERVER__TOOL"
}
