package permission

import (
	"slices"

	"github.com/pinfold-dev/pinfold/access"
)

var (
	// targetActions have an agent as their resource.
	targetActions = access.ActionsOf(access.KindMessage, access.KindAgent)
	// plainActions are those that `defaults` may name: files have rules of
	// their own.
	plainActions = access.ActionsOf(access.KindMessage, access.KindAgent, access.KindTool, access.KindOther)
)

// plainIndex is the action's place in plainActions, or -1.
func plainIndex(a access.Action) int { return slices.Index(plainActions, a) }

// BashPolicy is what an agent's shell is meant for. It is advice to the agent's
// own command line; the view is the boundary. Only "none" is a rule: it
// refuses the tools that execute.
type BashPolicy string

// Words returns the shell policies, narrowest first.
func (BashPolicy) Words() []string {
	return []string{"none", "read_only", "explore", "test", "build_test"}
}

// Has reports whether b allows what other allows. An unknown word is allowed by none.
func (b BashPolicy) Has(other BashPolicy) bool { return other.rank() >= 0 && other.rank() <= b.rank() }

// rank orders shell policies by what they offer.
func (b BashPolicy) rank() int { return slices.Index(b.Words(), string(b)) }

// Mode says how the lists of a send ACL are read.
type Mode string

// The modes of a send ACL.
const (
	Bypass    Mode = "bypass"    // any session
	Allowlist Mode = "allowlist" // those that a pattern matches
	Denylist  Mode = "denylist"  // all but those that a pattern matches
)

// Words returns the modes.
func (Mode) Words() []string { return []string{"bypass", "allowlist", "denylist"} }

// Asking says whether a request that needs asking may be put to anyone.
type Asking string

// Words returns "ask" and "deny".
func (Asking) Words() []string { return []string{"ask", "deny"} }

// word is a string type with a closed list of values.
type word interface{ Words() []string }
