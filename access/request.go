package access

import "context"

// Request is one question: may this be done? Who asks is for the Checker to
// know, by the connection for instance; everything else comes from the caller
// and is not trusted.
type Request struct {
	// Principal is the agent's id. Requests about files do not need it.
	Principal string

	// Action and Resource are what is asked for. The resource of a file is a
	// place: relative to the root, its links followed, joined by "/", "." for
	// the root itself. Outside the root it is absolute. The resource of a
	// message or of an agent action is an agent's id or session key, that of
	// tool.use the tool.
	Action   Action
	Resource string

	// Path is the place as the caller spelled it, for a person to read. Nothing
	// is decided by it.
	Path string

	// Also are the other paths and agents of the same call: the second path of
	// a copy, every argument that is an agent's id.
	Also []Access

	// Tool is the tool or skill through which it is asked; empty where there
	// is none, as for a process in the view.
	Tool string

	// Input is the call's arguments as JSON, as given.
	Input []byte

	// ArgsDigest identifies the exact arguments, for approvals.
	ArgsDigest string

	// Reason is why, in the caller's words. Observed says that it is what was seen
	// of the call instead, such as the program that made it.
	Reason   string
	Observed bool

	// Asked says that the rules refuse it unless the answer grants it.
	Asked bool

	// Confirm says that the caller wants somebody's yes for exactly this call, also
	// where the policy allows the tool: what would be allowed is asked for, as with
	// requires_confirmation. What the policy denies stays denied.
	Confirm bool

	// MayBlock says that the caller can wait for an approval.
	MayBlock bool
}

// Each are all the accesses that the request is about, one by one.
func (r *Request) Each() []Access {
	return append([]Access{{Action: r.Action, Resource: r.Resource}}, r.Also...)
}

// Checker answers requests: a policy, a broker that asks an agent's manager, a
// person. One that asks somebody may block, and returns when ctx is done.
type Checker interface {
	Check(ctx context.Context, r Request) Decision
}
