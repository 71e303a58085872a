package mcpserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Protocol version 2026-07-28 has no questions of a server's while it works:
// what has to be asked is the answer to the call, which the client then makes
// anew with what its user said.

// askedInRounds is the first version in which that is so.
const askedInRounds = "2026-07-28"

// maxRounds is how many calls may be between two of their rounds; the oldest is
// forgotten, and its user asked again.
const maxRounds = 1024

// rounds are the calls whose user is being asked. An answer counts for the
// question that was asked, of the call that it was asked for, once.
type rounds struct {
	mu    sync.Mutex
	open  map[string]*round // by state; guarded by mu
	order []string          // of open, oldest first; guarded by mu
}

// round is one call on its way to an answer. It belongs to one request at a
// time.
type round struct {
	state string
	call  [sha256.Size]byte // name and arguments
	said  map[string]bool   // what was answered, by question
	asks  map[string]string // what is asked now: the question by its id
}

type roundKey struct{}

// begin is the round of a request: that which it continues, or a new one. nil
// is of a client that is asked while the call runs.
func (rs *rounds) begin(req *mcp.CallToolRequest) *round {
	params := req.Session.InitializeParams()
	if params == nil || params.ProtocolVersion < askedInRounds {
		return nil
	}
	call := sha256.Sum256(append([]byte(req.Params.Name+"\x00"), req.Params.Arguments...))
	rs.mu.Lock()
	r := rs.open[req.Params.RequestState]
	delete(rs.open, req.Params.RequestState) // an answer is used once
	rs.mu.Unlock()
	if r == nil || r.call != call {
		return &round{state: rand.Text(), call: call, said: map[string]bool{}, asks: map[string]string{}}
	}
	for id, question := range r.asks {
		if answer, ok := req.Params.InputResponses[id].(*mcp.ElicitResult); ok && answer != nil {
			r.said[question] = answer.Action == "accept"
		}
	}
	clear(r.asks)
	return r
}

// ask is Ask within a round.
func (r *round) ask(question string) error {
	yes, answered := r.said[question]
	switch {
	case yes:
		return nil
	case answered:
		return ErrDeclined
	}
	sum := sha256.Sum256([]byte(r.state + question))
	r.asks[hex.EncodeToString(sum[:8])] = question
	return errAskedFirst
}

// next is the answer to a request in whose call something was asked; nil where
// nothing was.
func (rs *rounds) next(r *round) *mcp.CallToolResult {
	if r == nil || len(r.asks) == 0 {
		return nil
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.open == nil {
		rs.open = map[string]*round{}
	}
	r.state = rand.Text()
	rs.open[r.state] = r
	rs.order = append(rs.order, r.state)
	for len(rs.order) > maxRounds {
		delete(rs.open, rs.order[0])
		rs.order = rs.order[1:]
	}
	ask := mcp.InputRequestMap{}
	for id, question := range r.asks {
		ask[id] = &mcp.ElicitParams{Mode: "form", Message: question, RequestedSchema: yesOrNo}
	}
	return &mcp.CallToolResult{InputRequests: ask, RequestState: r.state}
}

// within puts the round where Ask finds it.
func within(ctx context.Context, r *round) context.Context {
	if r == nil {
		return ctx
	}
	return context.WithValue(ctx, roundKey{}, r)
}

// canElicit reports whether a client can put a form to its user.
func canElicit(s *mcp.ServerSession) bool {
	params := s.InitializeParams()
	if params == nil || params.Capabilities == nil {
		return false
	}
	e := params.Capabilities.Elicitation
	return e != nil && (e.Form != nil || e.URL == nil)
}
