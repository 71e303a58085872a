package permission

import (
	"slices"
	"strings"
)

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
