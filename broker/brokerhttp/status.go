package brokerhttp

import (
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/permission"
)

// status tells the caller of itself and of all beneath it. It delivers and
// acknowledges nothing.
func (c *call) status() (any, error) {
	st, err := c.s.b.Status(c.Context(), c.who)
	st.Agents = briefAgents(st.Agents)
	return st, err
}

func (c *call) cross() (any, error) {
	x, err := c.s.b.Cross(c.Context(), c.who, c.PathValue("id"))
	return Crossed{Cross: x}, err
}

func (c *call) setCross() (any, error) {
	var body CrossBody
	if err := c.body(&body); err != nil {
		return nil, err
	}
	var change broker.CrossChange
	switch body.Change {
	case "mode":
		change.Mode = permission.Mode(body.Value)
	case "allow":
		change.Allow = body.Value
	case "deny":
		change.Deny = body.Value
	case "remove":
		change.Remove = body.Value
	case "clear":
		change.Clear = true
	}
	x, text, err := c.s.b.SetCross(c.Context(), c.who, c.PathValue("id"), change)
	return Crossed{Cross: x, Text: text}, err
}

// setSession registers a session of an agent, or removes one.
func (c *call) setSession() (any, error) {
	var body SessionBody
	if err := c.body(&body); err != nil {
		return nil, err
	}
	if body.Remove {
		return c.s.b.RemoveSession(c.Context(), c.who, c.PathValue("id"), body.Name)
	}
	return c.s.b.SetSession(c.Context(), c.who, c.PathValue("id"), body.Name, body.Route)
}
