package webinbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

// list is an answer that is a list; More is how many rows are not in it.
type list[T any] struct {
	Items []T `json:"items"`
	More  int `json:"more"`
}

// first is at most n rows, as they are shown.
func first[R, T any](rows []R, n int, as func(R) T) list[T] {
	l := list[T]{Items: []T{}, More: max(0, len(rows)-n)}
	for _, r := range rows[:min(n, len(rows))] {
		l.Items = append(l.Items, as(r))
	}
	return l
}

// row is a request, or a grant, in a list. All texts are escaped and cut.
type row struct {
	ID       string        `json:"id"`
	Agent    string        `json:"agent"`
	Tool     string        `json:"tool"`
	Action   string        `json:"action"`
	Resource string        `json:"resource"`
	Reason   string        `json:"reason"`
	Status   broker.Status `json:"status"`
	Scope    broker.Scope  `json:"scope"`
	Until    time.Time     `json:"until,omitzero"`
	Created  time.Time     `json:"created,omitzero"`
	Deadline time.Time     `json:"deadline,omitzero"`
}

func rowOf(r broker.Request) row {
	return row{
		ID: r.ID, Agent: shown(r.AgentID), Tool: shown(r.Tool), Action: shown(string(r.Action)), Resource: shown(r.Resource), Reason: shown(r.Reason),
		Status: r.Status, Scope: r.Scope, Until: r.Until, Created: r.CreatedAt, Deadline: r.Deadline,
	}
}

// accessRow is one thing that an approval lets an agent do.
type accessRow struct {
	Action   string `json:"action"`
	Resource string `json:"resource"`
}

// whole is a request by itself: with what an approval allows, the arguments,
// and what would change.
type whole struct {
	row
	Yours     bool                 `json:"yours"` // to answer
	Digest    string               `json:"digest"`
	Access    []accessRow          `json:"access"`
	Arguments string               `json:"arguments"`
	Cut       bool                 `json:"cut"` // Arguments do not hold all
	Change    *brokerhttp.Proposal `json:"change"`

	Code       string    `json:"code"`
	DenyReason string    `json:"deny_reason"`
	Resolver   string    `json:"resolver"`
	Resolved   time.Time `json:"resolved,omitzero"`
	Task       string    `json:"task"` // that the agent was hired for
	Cwd        string    `json:"cwd"`  // where it works
}

func (s *Server) requests(r *http.Request) (any, error) {
	rows, err := s.opt.Broker.Requests(r.Context(), operator)
	if err != nil {
		return nil, err
	}
	if s.opt.Others != nil {
		more, err := s.opt.Others.Requests(r.Context())
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
		slices.SortStableFunc(rows, func(a, b broker.Request) int { return a.CreatedAt.Compare(b.CreatedAt) })
	}
	return first(rows, maxRequests, rowOf), nil
}

// beside is the inbox of a request that the server's own broker does not have; nil for
// one that it has.
func (s *Server) beside(ctx context.Context, id string) Inbox {
	if s.opt.Others == nil {
		return nil
	}
	_, err := s.opt.Broker.Request(ctx, operator, id)
	var refused *broker.Error
	if errors.As(err, &refused) && refused.Code == broker.CodeNotFound {
		return s.opt.Others
	}
	return nil
}

// found is a request with the agent that made it, the zero Agent where that is gone, and
// what it would change.
func (s *Server) found(ctx context.Context, id string) (q broker.Request, a broker.Agent, change *brokerhttp.Proposal, err error) {
	agentOf := func() (broker.Agent, error) { return s.opt.Broker.Agent(ctx, operator, q.AgentID) }
	var propose func() (brokerhttp.Proposal, error)
	if in := s.beside(ctx, id); in != nil {
		q, err = in.Request(ctx, id)
		agentOf = func() (broker.Agent, error) { return in.Agent(ctx, q) }
		propose = func() (brokerhttp.Proposal, error) { return in.Proposal(ctx, id) }
	} else {
		q, err = s.opt.Broker.Request(ctx, operator, id)
		if s.opt.Propose != nil {
			propose = func() (brokerhttp.Proposal, error) { return s.opt.Propose(ctx, operator, id) }
		}
	}
	if err != nil {
		return q, a, nil, err
	}
	if known, err := agentOf(); err == nil {
		a = known
	}
	if q.Status != broker.Pending || propose == nil {
		return q, a, nil, nil
	}
	p, err := propose()
	switch {
	case err != nil:
		p = brokerhttp.Proposal{Note: "what it would change could not be found out: " + shown(err.Error())}
	case p.Digest != "" && p.Digest != q.Digest:
		p = brokerhttp.Proposal{Note: "the request is another one by now: open it again"}
	}
	return q, a, &p, nil
}

func (s *Server) request(r *http.Request) (any, error) {
	q, agent, change, err := s.found(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	w := whole{
		row: rowOf(q), Yours: q.ApproverID == "" && q.Status == broker.Pending, Digest: q.Digest,
		Access: []accessRow{{shown(string(q.Action)), all(q.Resource)}},
		Task:   shown(agent.Task), Cwd: shown(agent.Cwd), Change: change,
		Code: string(q.Code), DenyReason: shown(q.DenyReason), Resolver: shown(q.Resolver), Resolved: q.ResolvedAt,
	}
	for _, a := range q.Also {
		w.Access = append(w.Access, accessRow{shown(string(a.Action)), all(a.Resource)})
	}
	w.Arguments, w.Cut = arguments(q.Input)
	return w, nil
}

// all is a text that an approval is about: escaped, and never cut.
func all(s string) string { return cut(s, len(s)*len(`\U0010ffff`)) }

func (s *Server) approve(r *http.Request) (any, error) {
	var body struct {
		Scope   broker.Scope `json:"scope"`
		Minutes int          `json:"minutes"`
		Digest  string       `json:"digest"`
	}
	if err := read(r, &body); err != nil {
		return nil, invalid("%s", err)
	}
	a := broker.Answer{Scope: body.Scope, Digest: body.Digest}
	switch {
	case !slices.Contains(broker.Scopes(), body.Scope):
		return nil, invalid("unknown scope: want once, path, subtree, session or until")
	case body.Digest == "":
		return nil, invalid("an approval is for the request that was read: its digest is missing")
	case body.Minutes < 0 || body.Minutes > int(maxLasting/time.Minute):
		return nil, invalid("leave lasts %d minutes at most", int(maxLasting/time.Minute))
	case body.Minutes > 0:
		a.Until = time.Now().Add(time.Duration(body.Minutes) * time.Minute)
	}
	id := r.PathValue("id")
	if in := s.beside(r.Context(), id); in != nil {
		_, err := in.Approve(r.Context(), id, brokerhttp.ApproveBody{Scope: a.Scope, Until: a.Until, Digest: a.Digest})
		return row{ID: shown(id)}, err
	}
	q, err := s.opt.Broker.Approve(r.Context(), operator, id, a)
	return rowOf(q), err
}

func (s *Server) deny(r *http.Request) (any, error) {
	var body struct {
		Reason string `json:"reason"`
	}
	if err := read(r, &body); err != nil {
		return nil, invalid("%s", err)
	}
	if len(body.Reason) > maxReasonBytes {
		return nil, invalid("the reason has more than %d bytes", maxReasonBytes)
	}
	id := r.PathValue("id")
	if in := s.beside(r.Context(), id); in != nil {
		_, err := in.Deny(r.Context(), id, brokerhttp.DenyBody{Reason: body.Reason})
		return row{ID: shown(id)}, err
	}
	q, err := s.opt.Broker.Deny(r.Context(), operator, id, body.Reason)
	return rowOf(q), err
}

func (s *Server) grants(r *http.Request) (any, error) {
	rows, err := s.opt.Broker.Grants(r.Context(), operator)
	if err != nil {
		return nil, err
	}
	return first(rows, maxGrants, rowOf), nil
}

func (s *Server) revoke(r *http.Request) (any, error) {
	var body struct{}
	if err := read(r, &body); err != nil {
		return nil, invalid("%s", err)
	}
	q, err := s.opt.Broker.Revoke(r.Context(), operator, r.PathValue("id"))
	return rowOf(q), err
}

// invalid is a refusal of this package's own.
func invalid(format string, args ...any) error {
	return &broker.Error{Code: broker.CodeInvalid, Message: fmt.Sprintf(format, args...)}
}
