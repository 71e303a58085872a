package permission

import (
	"context"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
)

// Launch is how an agent's own command line is told what the policy allows, so that it
// offers nothing that would be refused, and does not wait for a person where there is
// none. It is a courtesy: the view is the boundary.
type Launch struct {
	Args  []string // flags, each with its value as the next argument
	Notes []string // what the flags cannot say
}

// LaunchOptions are about one start.
type LaunchOptions struct {
	Root     string // the project's directory
	Headless bool   // nobody is there to answer a prompt
	Model    string // "" or "inherit" leave it to the program
}

// toolEffect is what the policy says about a tool.
func (p *Policy) toolEffect(name string) access.Effect {
	return p.Check(context.Background(), access.Request{Action: access.ToolUse, Resource: name}).Effect
}

// NamesTool reports whether a document of the chain has an entry for a tool,
// whatever it says.
func (p *Policy) NamesTool(name string) bool {
	return slices.ContainsFunc(p.layers(), func(l *layer) bool { return l.tools[name] != nil })
}

// bashCommands are the commands that every document of the chain has, without those
// documents that list none. "git add -p" is within "git add".
func (p *Policy) bashCommands() []string {
	var commands []string
	for _, l := range p.layers() {
		list := l.src.Document.BashCommands
		switch {
		case list == nil:
		case commands == nil:
			commands = slices.Clone(list)
		default:
			both := []string{}
			for _, c := range slices.Concat(commands, list) {
				if begins(c, commands) && begins(c, list) && !slices.Contains(both, c) {
					both = append(both, c)
				}
			}
			commands = both
		}
	}
	return commands
}

// begins reports whether a command is one of list, or one of them with more
// words.
func begins(command string, list []string) bool {
	return slices.ContainsFunc(list, func(c string) bool { return command == c || strings.HasPrefix(command, c+" ") })
}

// writesAnything reports whether the chain grants a write path.
func (p *Policy) writesAnything() bool { return len(p.writable()) > 0 }

// fileNotes say which rules about files no flag can express.
func (p *Policy) fileNotes(program string) []string {
	var notes []string
	if w := p.writable(); len(w) > 0 && !slices.Contains(w, ".") {
		notes = append(notes, program+" cannot be told the write paths "+listText(w)+": the view holds them")
	}
	for _, l := range p.layers() {
		if fs := l.src.Document.FS; fs != nil && len(fs.Hide)+len(fs.Protect)+len(fs.AskRead)+len(fs.AskWrite) > 0 {
			return append(notes, program+" cannot be told what is hidden, protected or asked for: the view holds it")
		}
	}
	return notes
}
