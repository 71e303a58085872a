package brokerhttp

import (
	"context"
	"net/http"
	"net/url"

	"github.com/pinfold-dev/pinfold/broker"
)

// Proposal is what a request would change if it were approved now, for whoever
// may answer it. Its texts are an agent's: they are escaped, so that each line
// stays one line, and no text is anything but text.
type Proposal struct {
	RequestID string `json:"request_id"`
	Digest    string `json:"digest"`  // of the request that it is about: for ApproveBody.Digest
	Diff      string `json:"diff"`    // unified; "" where there is none
	Added     int    `json:"added"`   // lines, of the whole
	Removed   int    `json:"removed"` // likewise
	Cut       bool   `json:"cut"`     // Diff does not hold all, and says where
	Note      string `json:"note"`    // why there is no diff, or what else is to be known; "" for nothing
}

// proposal answers whoever may see the request. It never waits for anybody.
func (c *call) proposal() (any, error) {
	id := c.PathValue("id")
	if c.s.opt.Propose != nil {
		return c.s.opt.Propose(c.Context(), c.who, id)
	}
	r, err := c.s.b.Request(c.Context(), c.who, id)
	if err != nil {
		return nil, err
	}
	return Proposal{RequestID: r.ID, Digest: r.Digest, Note: "this broker shows no differences"}, nil
}

// Proposal is what a request would change, for its agent, its manager and the
// operator.
func (c *Client) Proposal(ctx context.Context, id string) (p Proposal, err error) {
	return p, c.do(ctx, http.MethodGet, "/v1/requests/"+url.PathEscape(id)+"/proposal", nil, &p)
}

// Request is one request as it stands, whole, for the same.
func (c *Client) Request(ctx context.Context, id string) (r broker.Request, err error) {
	return r, c.do(ctx, http.MethodGet, "/v1/requests/"+url.PathEscape(id), nil, &r)
}
