package webinbox

import (
	"net/http"
	"slices"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
)

// agent is one agent in the tree. All texts are escaped and cut.
type agent struct {
	ID       string       `json:"id"`
	Parent   string       `json:"parent"` // "" is the operator
	State    broker.State `json:"state"`
	Task     string       `json:"task"`
	Cwd      string       `json:"cwd"`
	Session  string       `json:"session"`
	Model    string       `json:"model"`
	Policy   string       `json:"policy"`
	Requests int          `json:"requests"` // that wait
	Queued   int          `json:"queued"`   // messages
	Created  time.Time    `json:"created,omitzero"`
	Ended    time.Time    `json:"ended,omitzero"`
	Exit     string       `json:"exit"`
	Output   string       `json:"output"`
}

// agents are all that were not fired, each after its manager: the page is about who is
// there, and with whoever is fired all beneath it are.
func (s *Server) agents(r *http.Request) (any, error) {
	st, err := s.opt.Broker.Status(r.Context(), operator)
	if err != nil {
		return nil, err
	}
	there := slices.DeleteFunc(st.Agents, func(r broker.AgentStatus) bool { return r.State == broker.Fired })
	return first(there, maxAgents, agentOf), nil
}

func agentOf(r broker.AgentStatus) agent {
	a := agent{
		ID: shown(r.ID), Parent: shown(r.ParentID), State: r.State, Task: shown(r.Task), Cwd: shown(r.Cwd), Session: shown(r.Session), Model: shown(r.Model),
		Policy: r.PolicyHash, Requests: r.Requests, Queued: r.Queued, Created: r.CreatedAt, Ended: r.EndedAt,
	}
	if r.State == broker.Exited {
		a.Exit, a.Output = r.Exit.String(), shown(r.Exit.Output)
	}
	return a
}
