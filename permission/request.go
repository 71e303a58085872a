package permission

import (
	"context"

	"github.com/pinfold-dev/pinfold/access"
)

// Request is one question (M1). Principal and the answers of the registry come
// from the connection; the rest comes from whoever asks, and is not trusted.
type Request struct {
	// Principal is the agent's id. Requests about files do not need it.
	Principal string

	// Action and Resource are what is asked for. The resource of a file is a
	// place: relative to the root, its links followed, joined by "/", "." for
	// the root itself. Outside the root it is absolute. The resource of a
	// message or of an agent action is an agent's id or session key, that of
	// tool.use the tool.
	Action   access.Action
	Resource string

	// Also are the other paths and agents of the same call: the second path of
	// a copy, every argument that is an agent's id (T8).
	Also []access.Access

	// Tool is the tool or skill through which it is asked; empty where there
	// is none, as for a process in the view.
	Tool string

	// ArgsDigest identifies the exact arguments, for approvals.
	ArgsDigest string

	// Confirm says that the caller wants somebody's yes for exactly this call, also
	// where the policy allows the tool: what would be allowed is asked for, as with
	// requires_confirmation. What the policy denies stays denied.
	Confirm bool

	// MayBlock says that the caller can wait for an approval.
	MayBlock bool
}

// Enforcer is a policy together with the registry that knows how agents are
// related. Its zero registry knows nobody: then no agent has a parent. It is
// safe for use by many goroutines.
type Enforcer struct {
	Policy   *Policy
	Registry Registry
}

// Registry knows the agents there are. It belongs to whoever runs them, and
// answers from its own records, never from a request.
type Registry interface {
	// Parent returns the id of an agent's parent, "" for one that has none or
	// is not known. It must not block.
	Parent(id string) string
}

// Check decides about a request; it has no effect. It needs about a
// microsecond, whatever the number of rules, and allocates nothing for names
// in ASCII.
func (e Enforcer) Check(_ context.Context, req Request) Decision {
	return e.decide(req, nil)
}

// Check is Enforcer.Check where no registry is at hand.
func (p *Policy) Check(_ context.Context, req Request) Decision {
	return Enforcer{Policy: p}.decide(req, nil)
}
