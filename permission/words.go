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

// words returns the shell policies, narrowest first.
func (BashPolicy) words() []string {
	return []string{"none", "read_only", "explore", "test", "build_test"}
}

// rank orders shell policies by what they offer.
func (b BashPolicy) rank() int { return slices.Index(b.words(), string(b)) }

// Mode says how the lists of a send ACL are read.
type Mode string

// The modes of a send ACL.
const (
	Bypass    Mode = "bypass"    // any session
	Allowlist Mode = "allowlist" // those that a pattern matches
	Denylist  Mode = "denylist"  // all but those that a pattern matches
)

// words returns the modes.
func (Mode) words() []string { return []string{"bypass", "allowlist", "denylist"} }

// Asking says whether a request that needs asking may be put to anyone.
type Asking string

// words returns "ask" and "deny".
func (Asking) words() []string { return []string{"ask", "deny"} }

// word is a string type of this package with a closed list of values; those of access
// say Words.
type word interface{ words() []string }

// NetworkMode says what of the network an agent has.
type NetworkMode string

// The modes of the network.
const (
	NetworkNone  NetworkMode = "none"  // nothing
	NetworkAllow NetworkMode = "allow" // the hosts that are listed
	NetworkHost  NetworkMode = "host"  // all that the host reaches
)

// words returns the modes, narrowest first.
func (NetworkMode) words() []string { return []string{"none", "allow", "host"} }

// rank orders modes by what they offer. Of one that is not known it is that of none.
func (m NetworkMode) rank() int { return max(0, slices.Index(m.words(), string(m))) }
