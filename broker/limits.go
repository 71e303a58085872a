package broker

import "time"

// Bounds of what an agent can make grow or hold up: at a time, in a minute, and, with
// Options.Keep, in all.
const (
	maxChildren   = 1000      // living children of one agent; the operator has no bound
	maxDepth      = 16        // managers above an agent
	maxDescend    = 100_000   // agents that one status or fire looks at
	maxArchived   = 100       // archived agents of one status
	maxPending    = 100       // pending requests of one agent
	maxWaits      = 200       // calls of one agent that wait at a time
	maxFromOne    = 200       // messages of one sender that lie unacknowledged in one mailbox
	maxMailbox    = 10_000    // unacknowledged messages in one mailbox
	maxContent    = 64 << 10  // bytes of a message
	maxInput      = 256 << 10 // bytes of a request's arguments
	maxInputs     = 1 << 20   // bytes of the arguments of all pending requests of one agent
	maxAlso       = 64        // further accesses of a request
	maxComponents = 1024      // of all places of a call together: each is matched against every glob
	maxName       = 4096      // bytes of a resource, directory, route or model
	maxTools      = 1000      // tools, or words of a command, of one agent
	maxTask       = 64 << 10  // bytes of a task
	maxOutput     = 4 << 10   // bytes of a process's last output that are kept
	maxReason     = 1000      // characters of a reason
	maxShown      = 2000      // characters of a request's arguments that a manager reads
	maxRecordText = 1000      // characters of one field of a record
	maxFound      = 10        // requests that the beginning of an id finds
	maxDelivered  = 100       // messages handed over at once
	maxAcked      = 1000      // messages acknowledged at once
	maxSuggested  = 10        // session keys suggested in an error
	maxHops       = 8         // messages in one causal chain
	maxSameEdge   = 3         // the occurrence of an edge in one causal chain that is refused
	maxSessions   = 1000      // of one agent
	maxPatterns   = 1000      // patterns in one list of a send ACL
	maxDenials    = 1000      // refusals of a view told at once
	maxLeftOut    = 1 << 40   // of which one telling counts
	recordPage    = 1000      // records that Verify reads at once
	policyCache   = 1024      // compiled policies that are kept

	// defaultKeep is the bound of each UsageKind of one agent, in bytes; all the
	// agents beneath one of the operator's have treeKeeps times that together.
	defaultKeep = 32 << 20
	treeKeeps   = 10

	// attemptBurst a minute bounds what one agent can make be recorded.
	attemptBurst = 600

	// A broker that holds waits says so every leaseEvery; the waits of one that
	// was not seen for leaseTime are void.
	leaseEvery = 5 * time.Second
	leaseTime  = 20 * time.Second
)

// Rates are the rate limits of sending. Zero fields are the defaults.
type Rates struct {
	PairPerMinute   int // messages from one agent to another; default 30
	SenderPerMinute int // messages of one agent; default 120
	Burst           int // messages that may come at once; default 10
}

func (r Rates) withDefaults() Rates {
	for _, f := range []struct {
		field *int
		value int
	}{{&r.PairPerMinute, 30}, {&r.SenderPerMinute, 120}, {&r.Burst, 10}} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	return r
}
