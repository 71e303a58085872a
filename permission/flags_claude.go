package permission

import (
	"strings"

	"github.com/pinfold-dev/pinfold/access"
)

// besides are tools that belong to another one, such as the tools by which a to-do
// list or a command in the background is looked at. Programs that do not have them
// ignore the names.
var besides = map[string][]string{
	"Bash":      {"TaskOutput", "TaskStop"},
	"TodoWrite": {"TaskCreate", "TaskGet", "TaskList", "TaskUpdate"},
}

// FlagsClaude returns the flags of Claude Code (as of 2.1). It never asks for
// bypassPermissions.
func FlagsClaude(p *Policy, opt LaunchOptions) Launch {
	var tools, allowed, denied []string
	commands := p.bashCommands()
	for _, name := range claudeTools {
		effect := p.toolEffect(name)
		if effect == access.Deny {
			denied = append(denied, name)
			continue
		}
		tools = append(append(tools, name), besides[name]...)
		switch {
		case effect == access.Ask:
		case name == "Bash" && commands != nil:
			for _, c := range commands {
				allowed = append(allowed, "Bash("+c+":*)")
			}
		default:
			allowed = append(allowed, name)
		}
	}
	l := Launch{Args: []string{"--tools", strings.Join(tools, ",")}}
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
	// Last, since it takes one value only: what follows is the prompt.
	add("--permission-mode", mode)

	if commands != nil && p.toolEffect("Bash") != access.Deny {
		l.Notes = append(l.Notes, "Bash patterns are advice, which a command can get round: the view is the boundary")
	}
	l.Notes = append(l.Notes, p.fileNotes("claude")...)
	if on, _, _ := p.Network(); !on {
		l.Notes = append(l.Notes, "the network is off in this policy, and claude needs it to reach its model")
	}
	return l
}
