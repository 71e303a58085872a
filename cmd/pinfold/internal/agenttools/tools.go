package agenttools

import (
	"context"
	"encoding/json"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/fileskills/mcpserver"
	"github.com/pinfold-dev/pinfold/permission"
)

// tool is one of them, before it has a client.
type tool struct {
	name, description, schema string
	action                    access.Action
	aimed                     bool // at an agent
	readOnly, destructive     bool
	call                      func(context.Context, *brokerhttp.Client, json.RawMessage) (string, error)
}

var all = []tool{
	{
		name: "nexus_create", action: access.AgentSpawn, call: create,
		description: "Hire a child agent, with a policy within your own. With a command it starts at once, in a sandbox of its own; without one it is only registered.",
		schema: `{"type":"object","additionalProperties":false,"required":["task"],"properties":{
			"task":{"type":"string","description":"what it is to do; the command finds it in PINFOLD_TASK and wherever {task} stands"},
			"agent_id":{"type":"string","description":"its id; one is made up otherwise"},
			"preset":{"type":"string","description":"a preset or profile; sandboxed if nothing is given"},
			"policy":{"type":"string","description":"a policy document (YAML) instead of a preset"},
			"allowed_write_paths":{"type":"array","items":{"type":"string"},"description":"what it may write, beneath cwd; nothing if not given"},
			"cwd":{"type":"string","description":"where it works: a directory beneath yours, relative to it or absolute; yours if not given"},
			"command":{"type":"array","items":{"type":"string"},"description":"the program to start and its arguments"},
			"model":{"type":"string"},
			"tools":{"type":"array","items":{"type":"string"},"description":"the tools that it may use, others are refused; ask:NAME has to be asked for, and with ask:* all others"}}}`,
	},
	{
		name: "nexus_send", action: access.MsgSend, aimed: true, call: send,
		description: "Send a message to an agent, by its id or session key.",
		schema: `{"type":"object","additionalProperties":false,"required":["agent_id","content"],"properties":{
			"agent_id":{"type":"string","description":"the agent's id, or its session key such as agent:boss:main"},
			"content":{"type":"string"}}}`,
	},
	{
		name: "nexus_status", action: access.AgentStatus, aimed: true, readOnly: true, call: status,
		description: "Say where an agent stands: working, idle, exited or fired, and how it ended.",
		schema:      byID,
	},
	{
		name: "nexus_cancel", action: access.AgentCancel, aimed: true, destructive: true, call: cancel,
		description: "Interrupt an agent: what it runs and what it asks for is cancelled, the agent stays.",
		schema:      byID,
	},
	{
		name: "nexus_destroy", action: access.AgentDestroy, aimed: true, destructive: true, call: destroy,
		description: "Fire an agent and all that it has hired: their processes are ended.",
		schema:      byID,
	},
}

const byID = `{"type":"object","additionalProperties":false,"required":["agent_id"],"properties":{"agent_id":{"type":"string"}}}`

// Tools are the tools of the agent that c is connected as. own is what it was
// hired with.
func Tools(c *brokerhttp.Client, own brokerhttp.Own) []mcpserver.Tool {
	tools := make([]mcpserver.Tool, len(all))
	for i, t := range all {
		tools[i] = mcpserver.Tool{
			Name: t.name, Description: t.description, InputSchema: json.RawMessage(t.schema),
			ReadOnly: t.readOnly, Destructive: t.destructive, Idempotent: t.readOnly, OpenWorld: false,
			Unlisted: !permits(own.Policy, own.Agent.ID, t),
			Call: func(ctx context.Context, input json.RawMessage) (string, error) {
				text, err := t.call(ctx, c, input)
				return text, asToolError(err)
			},
		}
	}
	return tools
}

// permits reports whether a policy lets an agent use a tool at all: on anybody.
func permits(p *permission.Policy, agent string, t tool) bool {
	if !t.aimed {
		return may(permission.Enforcer{Policy: p}.Check(context.Background(), access.Request{Principal: agent, Action: t.action, Tool: t.name}))
	}
	for _, k := range []family{{parent: true}, {child: true}, {sibling: true}, {}} {
		k.agent = agent
		// The target that a rule may name is not known: a refusal because it
		// names others allows those.
		d := permission.Enforcer{Policy: p, Registry: k}.Check(context.Background(), access.Request{Principal: agent, Action: t.action, Resource: somebody, Tool: t.name})
		if may(d) || d.Code == permission.CodeTargetNotListed || d.Code == permission.CodeCrossSend {
			return true
		}
	}
	return false
}

func may(d access.Decision) bool { return d.Effect != access.Deny }

// somebody is the agent that stands for all.
const somebody = "somebody"

// family is a registry in which somebody has one relation to the agent.
type family struct {
	agent                  string
	parent, child, sibling bool
}

// Parent is permission.Registry's.
func (k family) Parent(id string) string {
	switch {
	case id == k.agent && k.parent:
		return somebody
	case id == somebody && k.child:
		return k.agent
	case k.sibling && (id == k.agent || id == somebody):
		return "both"
	}
	return ""
}
