package broker

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/pinfold-dev/pinfold/permission"
)

// State is what an agent is doing.
type State string

// The states of an agent. Exited and fired are final, but that an exited agent
// with a resume command is working again once a message arrives.
const (
	Working State = "working"
	Idle    State = "idle" // it waits for a message
	Exited  State = "exited"
	Fired   State = "fired"
)

// Ended reports whether nobody acts under the agent's name any more.
func (s State) Ended() bool { return s == Exited || s == Fired }

// Agent is one row of the registry: a durable session.
type Agent struct {
	ID       string `json:"id"`        // [A-Za-z0-9._@+-]+
	ParentID string `json:"parent_id"` // "" is the operator. It never changes
	Session  string `json:"session"`   // the key of its first session, agent:<id>:<name>; unique

	Sessions []AgentSession `json:"sessions,omitempty"` // those beside the first; nil for none

	Cwd        string   `json:"cwd"`                   // absolute; its policy's paths are relative to it
	Model      string   `json:"model,omitempty"`       // "" if not given
	Tools      []string `json:"tools,omitempty"`       // nil if not given
	Task       string   `json:"task,omitempty"`        // what it was hired for
	PolicyHash string   `json:"policy_hash,omitempty"` // of what it was hired with, grants apart; see Tx.Policy
	Route      string   `json:"route,omitempty"`       // where the answers of its first session go, such as a channel; "" for nowhere
	Resume     []string `json:"-"`                     // the command that starts it again; nil for none
	// Launch is how its command is started, in words of whoever runs it; "" for
	// nothing out of the ordinary.
	Launch string `json:"-"`

	// CrossSend is what `agents cross` has set, intersected with the policy's
	// own; nil for nothing.
	CrossSend *permission.CrossSend `json:"-"`

	State State `json:"state"`
	// Turn counts how often the agent went idle: the name of that event.
	Turn int64 `json:"turn"`
	// Interrupts counts the interrupts that it was sent.
	Interrupts int64 `json:"interrupts"`
	// Process is who runs its process, in words of whoever does, and how: see
	// ProcessName; "" while none runs.
	Process string `json:"process,omitempty"`
	// Cause are the agents through which the message came that was last
	// delivered to it: the chain that its own messages continue. nil
	// after a person's.
	Cause []string `json:"-"`
	// TokenHash is of the token that is its identity over a network; "" for
	// none; unique.
	TokenHash string `json:"-"`

	// Archived says that it has ended, is not to be started again, and has nobody beneath
	// it who is not archived: it is on record, and not among those that are there.
	Archived bool `json:"-"`

	CreatedAt time.Time `json:"created_at,omitzero"`
	Until     time.Time `json:"until,omitzero"`    // when its time is over and it is fired; zero for never
	EndedAt   time.Time `json:"ended_at,omitzero"` // zero until it has exited, or was fired and its process is gone
	Exit      Exit      `json:"exit,omitzero"`     // how it ended
}

// howMark stands before the words about how a process runs.
const howMark = "; user "

// maxHow bounds each of the words about how a process runs, in bytes.
const maxHow = 200

// How says how a process runs, for Started: as which user, and what else is worth knowing,
// such as its program.
func How(uid int, more ...string) string {
	// A program's name is whatever an agent calls it. It is neither to be taken for the
	// words that end a name, nor to fill the row.
	for i, words := range more {
		words = strings.Map(func(c rune) rune {
			if c == ';' || unicode.IsControl(c) {
				return '_'
			}
			return c
		}, words)
		more[i] = words[:min(len(words), maxHow)]
	}
	return strings.TrimPrefix(howMark, "; ") + strings.Join(append([]string{strconv.Itoa(uid)}, more...), ", ")
}

// ProcessName is Process without the words about how it runs: what Started was given.
func (a *Agent) ProcessName() string {
	if i := strings.LastIndex(a.Process, howMark); i >= 0 {
		return a.Process[:i]
	}
	return a.Process
}

// Exit says how a process ended.
type Exit struct {
	Code   int    `json:"code"`             // its exit code; of no meaning beside a Signal
	Signal string `json:"signal,omitempty"` // the signal that ended it, such as "killed"; "" for none
	Output string `json:"output,omitempty"` // the last that it said, capped and escaped
}
