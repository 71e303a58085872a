package permission

import (
	"fmt"
	"slices"

	"github.com/pinfold-dev/pinfold/internal/policies"
)

// inside is a policy as the command and the broker ask it, behind the door
// policies.Of. Its methods stand here, or beside what they do.
type inside struct{ *Policy }

// insideOptions is Options behind the door: what Examine takes.
type insideOptions Options

func init() {
	policies.Of = func(x any) any {
		switch x := x.(type) {
		case *Policy:
			return inside{x}
		case Options:
			return insideOptions(x)
		}
		panic(fmt.Sprintf("permission: nothing stands behind the door for a %T", x))
	}
	policies.Find, policies.DecodeProject = find, decodeProject
}

// BashPolicy is the narrowest shell policy of the chain, "" if none is set, and
// allows says whether it allows what a word stands for.
func (p inside) BashPolicy() (word string, allows func(word string) bool) {
	least := p.bashPolicy()
	return string(least), func(word string) bool {
		rank := BashPolicy(word).rank()
		return least == "" || rank >= 0 && rank <= least.rank()
	}
}

// BashCommands are the commands that the policy lists for a shell; each covers the
// same words with more after them. Documents that list none do not count; of the
// others, each has to have the command. listed is false where no document lists any.
// It is advice: a shell reaches what its user reaches, and only a view bounds that.
func (p inside) BashCommands() (commands []string, listed bool) {
	commands = p.bashCommands()
	return slices.Clone(commands), commands != nil
}

// Writable are the write paths that the chain grants, for messages.
func (p inside) Writable() []string { return p.writable() }

// NamesTool reports whether a document of the chain has an entry for a tool,
// whatever it says.
func (p inside) NamesTool(name string) bool {
	return slices.ContainsFunc(p.layers(), func(l *layer) bool { return l.tools[name] != nil })
}

// Unprotected are the globs of trusted.Files that the whole chain opens, in the
// order of that table.
func (p inside) Unprotected() []string { return slices.Clone(p.open) }
