package brokerhttp

import (
	"context"
	"net/http"
	"net/url"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

// explain says what would be decided about a request of an agent.
func (c *call) explain() (any, error) {
	q := c.URL.Query()
	e, err := c.s.b.Explain(c.Context(), c.who, c.PathValue("id"), access.Request{
		Action: access.Action(q.Get("action")), Resource: q.Get("resource"), Tool: q.Get("tool"), Input: []byte(q.Get("input")),
	})
	e.Grants = briefRequests(e.Grants)
	return e, err
}

// holding says what an agent is held to.
func (c *call) holding() (any, error) {
	h, err := c.s.b.Holding(c.Context(), c.who, c.PathValue("id"))
	h.Grants = briefRequests(h.Grants)
	return h, err
}

// Explain says what would be decided now about a request of an agent, and does nothing.
// The action, the resource, the tool and the input of the request count.
func (c *Client) Explain(ctx context.Context, id string, r access.Request) (e broker.Explained, err error) {
	q := url.Values{"action": {string(r.Action)}, "resource": {r.Resource}, "tool": {r.Tool}, "input": {string(r.Input)}}
	return e, c.do(ctx, http.MethodGet, agentPath(id, "/explain?"+q.Encode()), nil, &e)
}

// Holding says what an agent is held to.
func (c *Client) Holding(ctx context.Context, id string) (h broker.Holding, err error) {
	return h, c.do(ctx, http.MethodGet, agentPath(id, "/policy"), nil, &h)
}
