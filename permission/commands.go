package permission

import "slices"

// BashCommands are the commands that the policy lists for a shell; each covers the
// same words with more after them. Documents that list none do not count; of the
// others, each has to have the command. listed is false where no document lists any.
// It is advice: a shell reaches what its user reaches, and only a view bounds that.
func (p *Policy) BashCommands() (commands []string, listed bool) {
	commands = p.bashCommands()
	return slices.Clone(commands), commands != nil
}
