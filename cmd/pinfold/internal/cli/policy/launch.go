package policy

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/permission"
)

// launch is how an agent's own command line is told what the policy allows, so that it
// offers nothing that would be refused, and does not wait for a person where there is
// none. It is a courtesy: the view is the boundary.
type launch struct {
	Args  []string // flags, each with its value as the next argument
	Notes []string // what the flags cannot say
}

// launchOptions are about one start.
type launchOptions struct {
	Root     string // the project's directory
	Headless bool   // nobody is there to answer a prompt
	Inside   bool   // it runs in a view, where no sandbox of its own can be made
	Model    string // "" or "inherit" leave it to the program
}

// toolEffect is what the policy says about a tool.
func toolEffect(p *permission.Policy, name string) access.Effect {
	return p.Check(context.Background(), access.Request{Action: access.ToolUse, Resource: name}).Effect
}

// writesAnything reports whether the policy grants a write path.
func writesAnything(p *permission.Policy) bool { return len(behind(p).Writable()) > 0 }

// fileNotes say which rules about files no flag can express. told is whether the program
// was told what is hidden.
func fileNotes(p *permission.Policy, program string, told bool) []string {
	var notes []string
	if w := behind(p).Writable(); len(w) > 0 && !slices.Contains(w, ".") {
		notes = append(notes, program+" cannot be told the write paths "+strings.Join(w, ", ")+": the view holds them")
	}
	for _, src := range p.Sources() {
		fs := src.Document.FS
		switch {
		case fs == nil:
		case len(fs.Protect)+len(fs.Mask)+len(fs.AskRead)+len(fs.AskWrite) > 0, len(fs.Hide) > 0 && !told:
			return append(notes, program+" cannot be told what is hidden, masked, protected or asked for: the view holds it")
		case len(fs.Hide) > 0:
			return append(notes, program+" is told what is hidden for its own tools, and commands get round that: the view holds it")
		}
	}
	return notes
}

// besides are tools that belong to another one, such as the tools by which a to-do
// list or a command in the background is looked at. Programs that do not have them
// ignore the names.
var besides = map[string][]string{
	"Bash":      {"TaskOutput", "TaskStop"},
	"TodoWrite": {"TaskCreate", "TaskGet", "TaskList", "TaskUpdate"},
}

// claudeHides are the rules of Claude Code that keep its own tools from what a policy
// hides. Its patterns are those of .gitignore, in a list that commas part; all is false
// where one of the globs cannot be said so.
func claudeHides(p *permission.Policy) (rules []string, all bool) {
	all = true
	for _, src := range p.Sources() {
		if src.Document.FS == nil {
			continue
		}
		for _, glob := range src.Document.FS.Hide {
			rule := "Read(" + glob + ")"
			if !strings.HasPrefix(glob, "**/") {
				rule = "Read(./" + glob + ")" // a bare name would mean any depth
			}
			switch {
			case strings.ContainsAny(glob, "{},()\\! \t\n"):
				all = false
			case !slices.Contains(rules, rule):
				rules = append(rules, rule)
			}
		}
	}
	return rules, all
}

// flagsClaude returns the flags of Claude Code (as of 2.1). It never asks for
// bypassPermissions.
func flagsClaude(p *permission.Policy, opt launchOptions) launch {
	var tools, allowed, denied []string
	commands, listed := behind(p).BashCommands()
	for _, name := range policies.ClaudeTools() {
		effect := toolEffect(p, name)
		if effect == access.Deny {
			denied = append(denied, name)
			continue
		}
		tools = append(append(tools, name), besides[name]...)
		switch {
		case effect == access.Ask:
		case name == "Bash" && listed:
			for _, c := range commands {
				allowed = append(allowed, "Bash("+c+":*)")
			}
		default:
			allowed = append(allowed, name)
		}
	}
	hides, told := claudeHides(p)
	denied = append(denied, hides...)
	l := launch{Args: []string{"--tools", strings.Join(tools, ",")}}
	add := func(flag, value string) {
		if value != "" {
			l.Args = append(l.Args, flag, value)
		}
	}
	add("--allowedTools", strings.Join(allowed, ","))
	add("--disallowedTools", strings.Join(denied, ","))
	add("--add-dir", opt.Root)
	if opt.Model != "inherit" {
		add("--model", opt.Model)
	}
	mode := "default"
	if opt.Headless {
		mode = "dontAsk"
	}
	if opt.Inside {
		add("--settings", `{"sandbox":{"enabled":false}}`)
	}
	// Last, since it takes one value only: what follows is the prompt.
	add("--permission-mode", mode)

	if listed && toolEffect(p, "Bash") != access.Deny {
		l.Notes = append(l.Notes, "Bash patterns are advice, which a command can get round: the view is the boundary")
	}
	l.Notes = append(l.Notes, fileNotes(p, "claude", told)...)
	switch net := p.Network(); net.Mode {
	case permission.NetworkHost:
	case permission.NetworkAllow:
		l.Notes = append(l.Notes, "claude cannot be told which hosts it may connect to: 'pinfold run --policy' holds it")
	default:
		l.Notes = append(l.Notes, "the network is off in this policy, and claude needs it to reach its model")
	}
	return l
}

// flagsCodex returns the flags of the Codex command line, for `codex` and for
// `codex exec`.
func flagsCodex(p *permission.Policy, opt launchOptions) launch {
	sandbox := "read-only"
	switch {
	case opt.Inside:
		sandbox = "danger-full-access" // any other fails at every command; the view holds
	case writesAnything(p):
		sandbox = "workspace-write"
	}
	approval := "on-request"
	if opt.Headless {
		approval = "never"
	}
	l := launch{Args: []string{"--sandbox", sandbox, "-c", "approval_policy=" + approval}}
	switch net := p.Network(); {
	case net.Mode == permission.NetworkHost && sandbox == "workspace-write":
		l.Args = append(l.Args, "-c", "sandbox_workspace_write.network_access=true")
	case net.Mode == permission.NetworkAllow:
		l.Notes = append(l.Notes, "codex cannot be told which hosts it may connect to: 'pinfold run --policy' holds it")
	}
	if opt.Root != "" {
		l.Args = append(l.Args, "--cd", opt.Root)
	}
	l.Notes = append(l.Notes, "codex cannot be told which tools it has")
	if toolEffect(p, "Bash") == access.Deny {
		l.Notes = append(l.Notes, "codex cannot be told to run no commands, which this policy refuses")
	}
	l.Notes = append(l.Notes, fileNotes(p, "codex", false)...)
	return l
}

// flagsGemini returns the flags of Gemini CLI.
func flagsGemini(p *permission.Policy, opt launchOptions) launch {
	mode := "plan" // reads only
	switch {
	case writesAnything(p) && opt.Headless:
		mode = "auto_edit"
	case writesAnything(p):
		mode = "default"
	}
	l := launch{Args: []string{"--approval-mode", mode}}
	if opt.Root != "" {
		l.Notes = append(l.Notes, "gemini works in the directory that it is started in: start it in "+opt.Root)
	}
	if mode == "auto_edit" && toolEffect(p, "Bash") != access.Deny {
		l.Notes = append(l.Notes, "gemini refuses commands in auto_edit when nobody is there to allow them; its policy files can")
	}
	l.Notes = append(l.Notes, "gemini cannot be told by flags which tools it has")
	l.Notes = append(l.Notes, fileNotes(p, "gemini", false)...)
	return l
}

// opencodeTools are the permissions of opencode, and the tools of a policy that each is
// about: all of them have to be allowed.
var opencodeTools = map[string][]string{
	"read": {"Read"}, "edit": {"Edit", "Write"}, "glob": {"Glob"}, "grep": {"Grep"}, "list": {"Glob"}, "bash": {"Bash"},
	"task": {"Task"}, "todowrite": {"TodoWrite"}, "webfetch": {"WebFetch"}, "websearch": {"WebSearch"},
}

// flagsOpencode returns the permissions of opencode (as of 1.18), which has no flags for
// them: one argument of JSON, for its variable OPENCODE_PERMISSION. The last pattern that
// matches counts there, and those of a mapping are sorted, "*" first.
func flagsOpencode(p *permission.Policy, opt launchOptions) launch {
	var l launch
	permissions := map[string]any{"*": "deny"}
	for name, tools := range opencodeTools {
		word := "allow"
		for _, tool := range tools {
			switch toolEffect(p, tool) {
			case access.Deny:
				word = "deny"
			case access.Ask:
				if word == "allow" {
					word = "ask"
				}
			}
		}
		if word == "ask" && opt.Headless {
			word = "deny"
		}
		permissions[name] = word
	}
	if !writesAnything(p) {
		permissions["edit"] = "deny"
	}
	if commands, listed := behind(p).BashCommands(); listed && permissions["bash"] == "allow" {
		of := map[string]string{"*": "deny"}
		for _, c := range commands {
			of[c], of[c+" *"] = "allow", "allow"
		}
		permissions["bash"] = of
		l.Notes = append(l.Notes, "patterns of commands are advice, which a command can get round: the view is the boundary")
	}
	told := true
	if read, ok := permissions["read"].(string); ok && read != "deny" {
		of := map[string]string{"*": read}
		for _, src := range p.Sources() {
			if src.Document.FS == nil {
				continue
			}
			for _, glob := range src.Document.FS.Hide {
				if strings.ContainsAny(glob, "{}[]?\\") {
					told = false
					continue
				}
				rest, deep := strings.CutPrefix(glob, "**/")
				of[rest] = "deny" // its * is any text, with slashes too
				if deep {
					of["*/"+rest] = "deny"
				}
			}
		}
		if len(of) > 1 {
			permissions["read"] = of
		}
	}
	data, err := json.Marshal(permissions)
	if err != nil {
		panic(err) // it is made of maps and strings
	}
	l.Args = []string{string(data)}
	l.Notes = append(l.Notes, fileNotes(p, "opencode", told)...)
	return l
}
