package broker

import (
	"encoding/json"
	"time"

	"github.com/pinfold-dev/pinfold/access"
)

// Status is where a request stands:
//
//	pending ─▶ approved ─▶ consumed
//	        │      └─────▶ active ─▶ revoked | expired
//	        ├▶ consumed, where the grant of another request covers it
//	        └▶ denied | cancelled | expired
type Status string

// The statuses of a request.
const (
	Pending   Status = "pending"
	Approved  Status = "approved" // for one time, not yet used
	Consumed  Status = "consumed"
	Active    Status = "active" // a grant that holds until further notice
	Revoked   Status = "revoked"
	Denied    Status = "denied"
	Cancelled Status = "cancelled"
	Expired   Status = "expired" // nobody answered in time, or the grant's time is over
)

// granted reports whether the request lifts anything now.
func (s Status) granted() bool { return s == Approved || s == Active }

// Scope says how far an approval reaches. It never reaches beyond what
// the policy marks `ask`, nor beyond what the manager itself may do.
type Scope string

// The scopes of an approval, narrowest first.
const (
	Once    Scope = "once"    // this request, with these arguments, one time
	Path    Scope = "path"    // this place or target, however often
	Subtree Scope = "subtree" // this place and what is beneath it
	Session Scope = "session" // the same action through the same tool, anywhere
	Until   Scope = "until"   // as path, until a time, which must be given
)

// Scopes returns the scopes, narrowest first.
func Scopes() []Scope { return []Scope{Once, Path, Subtree, Session, Until} }

// Request is what an agent asks for, and what became of it: one durable row.
// Approved and active ones are its grants.
type Request struct {
	ID         string `json:"id"`          // UUID, in order of creation
	AgentID    string `json:"agent_id"`    // who asks
	ApproverID string `json:"approver_id"` // who may answer: the agent's parent; "" is the operator

	// What is asked for, as the Gate was asked.
	Action   access.Action   `json:"action"`
	Resource string          `json:"resource"`
	Also     []access.Access `json:"also,omitempty"`   // what the same call touches beside that
	Tool     string          `json:"tool"`             // "" for a process in a view
	Input    string          `json:"input"`            // the call's arguments as JSON; untrusted
	Reason   string          `json:"reason,omitempty"` // why, in the agent's words; untrusted

	// Digest binds an answer to exactly this: action, resource, also, tool,
	// input. One pending row for each agent and digest.
	Digest string `json:"digest"`

	Status     Status      `json:"status"`
	Code       access.Code `json:"code,omitempty"`        // of a row that ended without leave; "" otherwise
	DenyReason string      `json:"deny_reason,omitempty"` // in a person's words
	Scope      Scope       `json:"scope,omitempty"`       // of an approval; "" before
	Until      time.Time   `json:"until,omitzero"`        // when the grant ends; zero for with its agent
	Deadline   time.Time   `json:"deadline,omitzero"`     // when the wait ends (approvals.max_wait); zero for never
	Resolver   string      `json:"resolver,omitempty"`    // who answered: an agent's id, or "root"; "" for the broker itself

	CreatedAt  time.Time `json:"created_at,omitzero"`
	ResolvedAt time.Time `json:"resolved_at,omitzero"`
}

// ToolName is the request's tool, or what a process in a view was doing.
func (r *Request) ToolName() string {
	if r.Tool == "" {
		return string(r.Action)
	}
	return r.Tool
}

// MarshalJSON has the row's fields, and beside them session_id, tool_name and tool_input,
// by which programs know them that speak to other runtimes: the agent, ToolName, and the
// arguments as JSON itself.
func (r Request) MarshalJSON() ([]byte, error) {
	type row Request
	return json.Marshal(struct {
		row
		SessionID string          `json:"session_id"`
		ToolName  string          `json:"tool_name"`
		ToolInput json.RawMessage `json:"tool_input"`
	}{row(r), r.AgentID, r.ToolName(), json.RawMessage(compactJSON([]byte(r.Input)))})
}
