package brokerhttp

import (
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

// The bodies of the API, both ways. Rows are the broker's own.

// ApproveBody answers a request with yes.
type ApproveBody struct {
	CallerID string       `json:"caller_id,omitempty"` // if given, must be the connection's own identity
	Scope    broker.Scope `json:"scope,omitempty"`     // "" is once
	Until    time.Time    `json:"until,omitzero"`      // for broker.Until
	Digest   string       `json:"digest,omitempty"`    // if given, must be the request's: what was read is what is approved
}

// DenyBody answers a request with no.
type DenyBody struct {
	CallerID string `json:"caller_id,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// Resolved is the answer to either: one of the first two is true.
type Resolved struct {
	Approved  bool   `json:"approved,omitzero"`
	Denied    bool   `json:"denied,omitzero"`
	SessionID string `json:"session_id"`
	ToolName  string `json:"tool_name"`
}

// HireBody describes an agent. At most one of Preset, Policy and Agent is given;
// without any it is the preset sandboxed.
type HireBody struct {
	ID         string    `json:"id,omitempty"`          // "" lets the broker choose
	Parent     string    `json:"parent,omitempty"`      // the operator may name one; an agent's children are its own
	Cwd        string    `json:"cwd,omitempty"`         // "" is the parent's; a relative one is relative to that
	Preset     string    `json:"preset,omitempty"`      // a preset's or profile's name
	Policy     *Text     `json:"policy,omitempty"`      // a policy document
	Agent      *Text     `json:"agent,omitempty"`       // an agent definition
	Role       string    `json:"role,omitempty"`        // a launch role or an agent type: beside Policy what its roles say
	WritePaths []string  `json:"write_paths,omitempty"` // beneath cwd
	Git        bool      `json:"git,omitempty"`         // the unprotected part of .git may be written
	Hide       []string  `json:"hide,omitempty"`        // globs of what does not exist for it
	Mask       []string  `json:"mask,omitempty"`        // globs of what it reads with stand-ins for the values
	Protect    []string  `json:"protect,omitempty"`     // globs of what it may never write
	Net        string    `json:"net,omitempty"`         // none or allow: of the network nothing, or AllowHost alone; "" is what the policy has
	AllowHost  []string  `json:"allow_host,omitempty"`  // hosts, as permission.Network.Allow has them
	Route      string    `json:"route,omitempty"`       // where its answers go, such as a channel
	Until      time.Time `json:"until,omitzero"`        // when its time is over, and it and all beneath it are fired
	Model      string    `json:"model,omitempty"`
	Tools      []string  `json:"tools,omitempty"` // as permission.Policy.WithTools has them; null is all that the policy allows
	Task       string    `json:"task,omitempty"`
	Command    []string  `json:"command,omitempty"`   // to start in a view; none: the agent is only registered
	Resumable  bool      `json:"resumable,omitempty"` // a message for the agent after it has exited starts the command again
	Follow     bool      `json:"follow,omitempty"`    // the process that hires, over a socket, runs as the agent: its end, however it comes, is the agent's

	// Launch says how the command is started; nil: as the broker starts any.
	Launch *LaunchBody `json:"launch,omitempty"`

	// Resume names an agent that has exited and is to be started again: by the
	// command that it is resumable by, or by Command. Nothing else is given then.
	Resume string `json:"resume,omitempty"`
}

// LaunchBody says how an agent's command is started. What of the host an agent may give
// another one is for the operator to say, and each part that goes beyond is refused.
type LaunchBody struct {
	Profile  string   `json:"profile,omitempty"`   // of the operator's file: its command, unless one is given, and what belongs to it
	RO       []string `json:"ro,omitempty"`        // paths of the host, shown read-only
	Home     string   `json:"home,omitempty"`      // a directory to be its home, absolute; or a name beneath those that the operator allows
	Env      []string `json:"env,omitempty"`       // KEY=VALUE, or KEY: the broker's own
	NoNet    bool     `json:"no_net,omitempty"`    // no network, whatever its policy says
	Stdin    bool     `json:"stdin,omitempty"`     // the task is its standard input
	MaxTasks int      `json:"max_tasks,omitempty"` // processes and threads at once; 0 is the default
	TmpSize  int64    `json:"tmp_size,omitempty"`  // bytes of each temporary file system; 0 is the default
}

// Text is a file that the client has read.
type Text struct {
	Name string `json:"name"` // relative to cwd where it lies there: it is protected then
	Text string `json:"text"`
}

// Hired is a new agent, and how it finds the broker.
type Hired struct {
	Agent     broker.Agent `json:"agent"`
	Socket    string       `json:"socket"`               // its PINFOLD_SOCKET, on the host
	TokenFile string       `json:"token_file,omitempty"` // its PINFOLD_TOKEN_FILE, where the broker listens on TCP
	Warning   string       `json:"warning,omitempty"`    // for whoever hired it: that nothing confines it
}

// fired lists who was fired, leaves first.
type fired struct {
	Fired []string `json:"fired"`
}

// askBody asks for leave: it is what of a DecideBody describes the call.
type askBody struct {
	Action   access.Action   `json:"action"`
	Resource string          `json:"resource"`
	Also     []access.Access `json:"also,omitempty"`
	Tool     string          `json:"tool,omitempty"`
	Input    string          `json:"input,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Observed bool            `json:"observed,omitempty"`
}

// SendBody is a message to an agent, by its session key.
type SendBody struct {
	To      string      `json:"to"`
	Verb    broker.Verb `json:"verb,omitempty"` // "" is send
	Content string      `json:"content"`
	ReplyTo string      `json:"reply_to,omitempty"` // of an answer: the message that it answers
}

// answered is the answer to a question; nil while there is none.
type answered struct {
	Answer *broker.Message `json:"answer"`
}

// ackBody names messages that their reader has.
type ackBody struct {
	IDs []string `json:"ids"`
}

// acked is how many of them were not acknowledged before.
type acked struct {
	Acked int `json:"acked"`
}

// recorded is how many records were written.
type recorded struct {
	Recorded int `json:"recorded"`
}

// List is an answer that is a list.
type List[T any] struct {
	Items []T  `json:"items"`
	More  bool `json:"more,omitempty"` // it ends where it would be too large: there are others behind these
}

// CrossBody changes a send ACL: mode, allow, deny and remove take a value.
type CrossBody struct {
	Change string `json:"change"`
	Value  string `json:"value,omitempty"`
}

// SessionBody registers a session of an agent, or removes one.
type SessionBody struct {
	Name   string `json:"name"`             // such as whatsapp:group:7
	Route  string `json:"route,omitempty"`  // where its answers go
	Remove bool   `json:"remove,omitempty"` // the session; Route is not given then
}

// Crossed is a send ACL, and what was done to it.
type Crossed struct {
	Cross broker.Cross `json:"cross"`
	Text  string       `json:"text"` // "" where nothing was changed
}

// Verified says whether the audit is whole, its end, and what it leaves out.
type Verified struct {
	OK      bool        `json:"ok"`
	Problem string      `json:"problem,omitempty"`
	Head    broker.Head `json:"head"`
	// LeftOut says which attempts have no record of their own, and how many.
	LeftOut []broker.Usage `json:"left_out,omitempty"`
}
