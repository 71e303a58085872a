package brokerhttp

import (
	"context"
	stdjson "encoding/json"
	"net/http"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/permission"
)

// Own is what an agent was hired with: who it is, where, and its policy, of
// which the grants are no part.
type Own struct {
	Agent  broker.Agent
	Policy *permission.Policy
}

// ownBody is Own on the wire.
type ownBody struct {
	Agent  broker.Agent       `json:"agent"`
	Policy stdjson.RawMessage `json:"policy"`
}

// own tells an agent what it was hired with. The operator is no agent.
func (c *call) own() (any, error) {
	if c.who.Operator() {
		return nil, fault(broker.CodeInvalid, "the operator is no agent and has no policy")
	}
	agent, policy, err := c.self()
	if err != nil {
		return nil, err
	}
	return ownBody{Agent: agent, Policy: permission.EncodePolicy(policy)}, nil
}

// self is the agent that calls, and its policy.
func (c *call) self() (agent broker.Agent, policy *permission.Policy, err error) {
	if agent, err = c.s.b.Agent(c.Context(), c.who, c.who.AgentID()); err != nil {
		return agent, nil, err
	}
	policy, err = c.s.b.Policy(c.Context(), agent.ID)
	return agent, policy, err
}

// cancel is interrupt as the tool nexus_cancel asks for it.
func (c *call) cancel() (any, error) {
	c.takesLong(maxAwait) // the manager may have to be asked
	return c.s.b.Cancel(c.Context(), c.who, c.PathValue("id"))
}

// seen is what the tool nexus_status tells of an agent.
func (c *call) seen() (any, error) {
	c.takesLong(maxAwait) // likewise
	return c.s.b.StatusOf(c.Context(), c.who, c.PathValue("id"))
}

// Own is who the caller is, and the policy that it was hired with.
func (c *Client) Own(ctx context.Context) (Own, error) {
	var body ownBody
	if err := c.do(ctx, http.MethodGet, "/v1/own", nil, &body); err != nil {
		return Own{}, err
	}
	policy, err := permission.DecodePolicy(body.Policy)
	return Own{Agent: body.Agent, Policy: policy}, err
}

// Cancel sends an agent SIGINT and cancels what it asks for, as nexus_cancel.
func (c *Client) Cancel(ctx context.Context, id string) (a broker.Agent, err error) {
	return a, c.do(ctx, http.MethodPost, agentPath(id, "/cancel"), nil, &a)
}

// StatusOf is what nexus_status tells of an agent.
func (c *Client) StatusOf(ctx context.Context, id string) (s broker.Seen, err error) {
	return s, c.do(ctx, http.MethodGet, agentPath(id, "/status"), nil, &s)
}
