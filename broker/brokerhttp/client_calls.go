package brokerhttp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/pinfold-dev/pinfold/broker"
)

// Approve says yes to a request.
func (c *Client) Approve(ctx context.Context, id string, body ApproveBody) (a Resolved, err error) {
	return a, c.do(ctx, http.MethodPost, "/approve/"+url.PathEscape(id), body, &a)
}

// Deny says no to a request.
func (c *Client) Deny(ctx context.Context, id string, body DenyBody) (d Resolved, err error) {
	return d, c.do(ctx, http.MethodPost, "/deny/"+url.PathEscape(id), body, &d)
}

// Hire makes a new agent, and starts its command if it has one.
func (c *Client) Hire(ctx context.Context, body HireBody) (h Hired, err error) {
	return h, c.do(ctx, http.MethodPost, "/v1/agents", body, &h)
}

// Agents lists the agents that the caller may know of, each after its manager. A
// list that is too large for one answer is asked for in parts; where an agent goes
// away in between, anew.
func (c *Client) Agents(ctx context.Context) ([]broker.Agent, error) {
	all := []broker.Agent{}
	for restarts := 0; ; {
		path := "/v1/agents"
		if len(all) > 0 {
			path += "?after=" + url.QueryEscape(all[len(all)-1].ID)
		}
		var page List[broker.Agent]
		err := c.do(ctx, http.MethodGet, path, nil, &page)
		var refused *broker.Error
		switch {
		case errors.As(err, &refused) && refused.Code == broker.CodeNotFound && len(all) > 0 && restarts < maxRestarts:
			all, restarts = all[:0], restarts+1
			continue
		case err != nil:
			return nil, err
		}
		if all = append(all, page.Items...); !page.More || len(page.Items) == 0 {
			return all, nil
		}
	}
}

// maxRestarts bounds how often a list is begun anew.
const maxRestarts = 10

// Agent is one of them.
func (c *Client) Agent(ctx context.Context, id string) (a broker.Agent, err error) {
	return a, c.do(ctx, http.MethodGet, agentPath(id, ""), nil, &a)
}

// Fire ends an agent and all beneath it. It returns when their processes are
// gone, and says who they were, leaves first.
func (c *Client) Fire(ctx context.Context, id string) ([]string, error) {
	var f fired
	err := c.do(ctx, http.MethodPost, agentPath(id, "/fire"), nil, &f)
	return f.Fired, err
}

// Await returns a child once it is idle or has ended, or once a message came
// that the caller should read first: then the child may be working still.
func (c *Client) Await(ctx context.Context, id string) (broker.Agent, error) {
	return poll(ctx, c, agentPath(id, "/await?wait=12h"), func(broker.Agent) bool { return true })
}

// Interrupt sends an agent SIGINT and cancels what it asks for.
func (c *Client) Interrupt(ctx context.Context, id string) (a broker.Agent, err error) {
	return a, c.do(ctx, http.MethodPost, agentPath(id, "/interrupt"), nil, &a)
}

// Exit says that an agent that was hired without a command has ended.
func (c *Client) Exit(ctx context.Context, id string, exit broker.Exit) (a broker.Agent, err error) {
	return a, c.do(ctx, http.MethodPost, agentPath(id, "/exit"), exit, &a)
}

// Ask asks for leave for what a question is about. The request may be pending
// still: Wait waits for its end.
func (c *Client) Ask(ctx context.Context, q DecideBody) (r broker.Request, err error) {
	if err := q.whole(); err != nil {
		return r, err
	}
	body := askBody{Action: q.Action, Resource: q.Resource, Also: q.Also, Tool: q.Tool, Input: q.Input, Reason: q.Reason, Observed: q.Observed}
	return r, c.do(ctx, http.MethodPost, "/v1/requests", body, &r)
}

// Wait waits until a request of the caller's is no longer pending. It outlives
// a broker that is started again.
func (c *Client) Wait(ctx context.Context, id string) (broker.Request, error) {
	return poll(ctx, c, "/v1/requests/"+url.PathEscape(id)+"?"+waitFor, func(r broker.Request) bool { return r.Status != broker.Pending })
}

// Requests are the pending ones that the caller may answer.
func (c *Client) Requests(ctx context.Context) ([]broker.Request, error) {
	l, err := c.FindRequests(ctx, "")
	return l.Items, err
}

// FindRequests are those whose ids begin with begin, pending or ended, of all that the
// caller may look at, ten at most; with "" it is Requests, and says whether that is all.
func (c *Client) FindRequests(ctx context.Context, begin string) (l List[broker.Request], err error) {
	path := "/v1/requests"
	if begin != "" {
		path += "?begin=" + url.QueryEscape(begin)
	}
	return l, c.do(ctx, http.MethodGet, path, nil, &l)
}

// Grants are what the caller was, or has, granted.
func (c *Client) Grants(ctx context.Context) ([]broker.Request, error) {
	var l List[broker.Request]
	err := c.do(ctx, http.MethodGet, "/v1/grants", nil, &l)
	return l.Items, err
}

// Revoke ends a grant.
func (c *Client) Revoke(ctx context.Context, id string) (r broker.Request, err error) {
	return r, c.do(ctx, http.MethodPost, "/v1/grants/"+url.PathEscape(id)+"/revoke", nil, &r)
}

// Mailbox takes the caller's messages that were not delivered yet, in order;
// with wait, it waits for one to come.
func (c *Client) Mailbox(ctx context.Context, wait bool) ([]broker.Message, error) {
	if wait {
		l, err := poll(ctx, c, "/v1/mailbox?"+waitFor, func(l List[broker.Message]) bool { return len(l.Items) > 0 })
		return l.Items, err
	}
	var l List[broker.Message]
	err := c.do(ctx, http.MethodGet, "/v1/mailbox", nil, &l)
	return l.Items, err
}

// Ack says that the caller has these messages.
func (c *Client) Ack(ctx context.Context, ids []string) (int, error) {
	var a acked
	err := c.do(ctx, http.MethodPost, "/v1/mailbox/ack", ackBody{IDs: ids}, &a)
	return a.Acked, err
}

// Send sends a message.
func (c *Client) Send(ctx context.Context, body SendBody) (m broker.Receipt, err error) {
	return m, c.do(ctx, http.MethodPost, "/v1/messages", body, &m)
}

// AwaitAnswer waits for the answer to a question: to a message that the caller
// has sent with the verb ask. It outlives a broker that is started again.
func (c *Client) AwaitAnswer(ctx context.Context, askID string) (broker.Message, error) {
	a, err := poll(ctx, c, "/v1/messages/"+url.PathEscape(askID)+"/answer?"+waitFor, func(a answered) bool { return a.Answer != nil })
	if err != nil {
		return broker.Message{}, err
	}
	return *a.Answer, nil
}

// CallSkill calls a file skill as the caller, beneath the caller's policy. It
// waits where the caller's manager has to be asked.
func (c *Client) CallSkill(ctx context.Context, name string, input []byte) (r SkillResult, err error) {
	return r, c.do(ctx, http.MethodPost, "/v1/skills/"+url.PathEscape(name), skillBody{Input: input}, &r)
}

// Status is who the caller is, its children, and its queued messages.
func (c *Client) Status(ctx context.Context) (s broker.Overview, err error) {
	return s, c.do(ctx, http.MethodGet, "/v1/status", nil, &s)
}

// Cross is to whom an agent may send.
func (c *Client) Cross(ctx context.Context, id string) (x Crossed, err error) {
	return x, c.do(ctx, http.MethodGet, agentPath(id, "/cross"), nil, &x)
}

// SetCross changes that.
func (c *Client) SetCross(ctx context.Context, id string, change CrossBody) (x Crossed, err error) {
	return x, c.do(ctx, http.MethodPost, agentPath(id, "/cross"), change, &x)
}

// SetSession registers a session of an agent, or removes one.
func (c *Client) SetSession(ctx context.Context, id string, body SessionBody) (a broker.Agent, err error) {
	return a, c.do(ctx, http.MethodPost, agentPath(id, "/sessions"), body, &a)
}

// AuditVerify looks whether the audit is whole. head is "", or NUMBER:HASH as
// an earlier answer's Head says it.
func (c *Client) AuditVerify(ctx context.Context, head string) (v Verified, err error) {
	return v, c.do(ctx, http.MethodGet, "/v1/audit/verify?head="+url.QueryEscape(head), nil, &v)
}

// RecordDenials tells what the caller's view has refused, and returns how many records
// that made.
func (c *Client) RecordDenials(ctx context.Context, told broker.Denials) (int, error) {
	var r recorded
	err := c.do(ctx, http.MethodPost, "/v1/audit/denials", told, &r)
	return r.Recorded, err
}

// Audit calls each for every record after one, oldest first; with follow it
// goes on as they are written, until ctx ends.
func (c *Client) Audit(ctx context.Context, after int64, follow bool, each func(broker.Record) error) error {
	return c.AuditPages(ctx, after, follow, func(page []broker.Record) error {
		for _, r := range page {
			if err := each(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// AuditPages is Audit with as many records at once as there are, at most 1000.
func (c *Client) AuditPages(ctx context.Context, after int64, follow bool, each func([]broker.Record) error) error {
	for {
		path := "/v1/audit?after=" + strconv.FormatInt(after, 10)
		var page List[broker.Record]
		var err error
		if follow {
			page, err = poll(ctx, c, path+"&"+waitFor, func(l List[broker.Record]) bool { return len(l.Items) > 0 })
		} else {
			err = c.do(ctx, http.MethodGet, path, nil, &page)
		}
		if err != nil || len(page.Items) == 0 {
			return err
		}
		if err := each(page.Items); err != nil {
			return err
		}
		after = page.Items[len(page.Items)-1].Seq
	}
}

func agentPath(id, rest string) string { return "/v1/agents/" + url.PathEscape(id) + rest }
