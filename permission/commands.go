package permission

import "slices"

// BashCommands are the commands that the policy lists for a shell, each with all
// that follows it: those that every document of the chain lists that lists any.
// listed is false where none does. It is advice: a shell reaches what its user
// reaches, and only a view bounds that.
func (p *Policy) BashCommands() (commands []string, listed bool) {
	commands = p.bashCommands()
	return slices.Clone(commands), commands != nil
}
