package webinbox

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

// record is one line of the audit. All texts are escaped and cut.
type record struct {
	Seq      int64     `json:"seq"`
	Time     time.Time `json:"time,omitzero"`
	Who      string    `json:"who"`
	Action   string    `json:"action"`
	Resource string    `json:"resource"`
	Tool     string    `json:"tool"`
	Effect   string    `json:"effect"`
	Code     string    `json:"code"`
	Reason   string    `json:"reason"`
	Rule     string    `json:"rule"`
	Policy   string    `json:"policy"`
	Request  string    `json:"request"`
	Hash     string    `json:"hash"`
}

// found is an answer of a search, newest first.
type found struct {
	Items    []record `json:"items"`
	Before   int64    `json:"before"`   // where to go on; 0 where there is no more
	Searched int      `json:"searched"` // records that were looked at
	Total    int64    `json:"total"`    // records that there are
}

// search is what is looked for.
type search struct {
	text string // in any field, in whatever case
	who  string
	kind string
}

// The kinds of records that can be asked for.
const (
	kindAll      = ""
	kindAnswers  = "answers"  // approvals, denials, what was withdrawn or ran out
	kindRefusals = "refusals" // whatever was not allowed
	kindMessages = "messages"
	kindAgents   = "agents" // hired, started, ended
)

// answers and lives are the actions of two kinds.
var (
	answers = map[string]bool{"approve": true, "deny": true, "revoke": true, string(broker.Expired): true, string(broker.Cancelled): true}
	lives   = map[string]bool{"hire": true, "start": true, "exit": true, "fire": true, "interrupt": true, "token": true, "cross": true}
)

func (q search) matches(r *broker.Record) bool {
	switch q.kind {
	case kindAnswers:
		if !answers[r.Action] {
			return false
		}
	case kindRefusals:
		if r.Effect == access.Allow {
			return false
		}
	case kindMessages:
		if !strings.HasPrefix(r.Action, "msg.") {
			return false
		}
	case kindAgents:
		if !lives[r.Action] {
			return false
		}
	}
	if q.who != "" && r.Principal != q.who {
		return false
	}
	if q.text == "" {
		return true
	}
	for _, field := range []string{r.Principal, r.Action, r.Resource, r.Tool, string(r.Effect), string(r.Code), r.Reason, r.Rule, r.RequestID, string(r.Hash)} {
		if strings.Contains(strings.ToLower(field), q.text) {
			return true
		}
	}
	return false
}

func (s *Server) records(r *http.Request) (any, error) {
	values := r.URL.Query()
	q := search{text: strings.ToLower(values.Get("q")), who: values.Get("who"), kind: values.Get("kind")}
	var before int64
	if text := values.Get("before"); text != "" {
		var err error
		if before, err = strconv.ParseInt(text, 10, 64); err != nil || before < 1 {
			return nil, invalid("before: want a number that is greater than 0")
		}
	}
	switch q.kind {
	case kindAll, kindAnswers, kindRefusals, kindMessages, kindAgents:
	default:
		return nil, invalid("unknown kind of records")
	}
	select {
	case s.searches <- struct{}{}:
		defer func() { <-s.searches }()
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	return s.find(r.Context(), q, before)
}

// find goes back from the newest record, or from before, until it has a page of
// what matches or has looked at maxSearched.
func (s *Server) find(ctx context.Context, q search, before int64) (found, error) {
	head, err := s.opt.Broker.Head(ctx, operator)
	if err != nil {
		return found{}, err
	}
	f := found{Items: []record{}, Total: head.Seq}
	if before == 0 || before > head.Seq {
		before = head.Seq + 1
	}
	for before > 1 && f.Searched < maxSearched {
		after := max(0, before-1-searchPage) // sequences have no gaps
		page, err := s.opt.Broker.Records(ctx, operator, broker.RecordFilter{AfterSeq: after, Limit: int(before - 1 - after)})
		if err != nil {
			return found{}, err
		}
		for i := len(page) - 1; i >= 0; i-- {
			if before, f.Searched = page[i].Seq, f.Searched+1; !q.matches(&page[i]) {
				continue
			}
			if f.Items = append(f.Items, recordOf(&page[i])); len(f.Items) == maxFound {
				f.Before = before
				return f, nil
			}
		}
		before = after + 1
	}
	if before > 1 {
		f.Before = before
	}
	return f, nil
}

func recordOf(r *broker.Record) record {
	return record{
		Seq: r.Seq, Time: r.Time, Who: shown(r.Principal), Action: shown(r.Action), Resource: shown(r.Resource), Tool: shown(r.Tool),
		Effect: string(r.Effect), Code: string(r.Code), Reason: shown(r.Reason), Rule: shown(r.Rule), Policy: r.PolicyHash, Request: r.RequestID, Hash: string(r.Hash),
	}
}

// verify says whether the audit is whole. That it is not is an answer, no error.
func (s *Server) verify(r *http.Request) (any, error) {
	var body struct{}
	if err := read(r, &body); err != nil {
		return nil, invalid("%s", err)
	}
	select {
	case s.searches <- struct{}{}:
		defer func() { <-s.searches }()
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	head, err := s.opt.Broker.Verify(r.Context(), operator, broker.Head{})
	var broken *broker.TamperedError
	if errors.As(err, &broken) {
		return map[string]any{"ok": false, "problem": shown(broken.Error())}, nil
	}
	return map[string]any{"ok": err == nil, "seq": head.Seq, "hash": head.Hash}, err
}
