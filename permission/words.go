package permission

import "slices"

// Effect is what a decision says. The stricter one wins wherever two meet:
// deny over ask over allow (M3).
type Effect string

// The effects, strictest first.
const (
	Deny  Effect = "deny"  // refused
	Ask   Effect = "ask"   // refused, but may be asked for
	Allow Effect = "allow" // done
)

// Words returns the effects.
func (Effect) Words() []string { return []string{"allow", "ask", "deny"} }

// Action names what is asked for (M2).
type Action string

// The actions. Those of files take a place as their resource, those of
// messages and of agents the id or session key of an agent.
const (
	FSRead           Action = "fs.read"
	FSList           Action = "fs.list"
	FSWrite          Action = "fs.write"
	FSCreate         Action = "fs.create"
	FSDelete         Action = "fs.delete"
	FSMove           Action = "fs.move"
	FSMeta           Action = "fs.meta"
	MsgSend          Action = "msg.send"
	MsgContextualize Action = "msg.contextualize"
	MsgExecute       Action = "msg.execute"
	MsgAsk           Action = "msg.ask"
	MsgAnswer        Action = "msg.answer"
	AgentSpawn       Action = "agent.spawn"
	AgentStatus      Action = "agent.status"
	AgentCancel      Action = "agent.cancel"
	AgentDestroy     Action = "agent.destroy"
	AgentInterrupt   Action = "agent.interrupt"
	ToolUse          Action = "tool.use"
	PolicyEdit       Action = "policy.edit"
)

var (
	readActions  = []Action{FSRead, FSList}
	writeActions = []Action{FSWrite, FSCreate, FSDelete, FSMove, FSMeta}
	msgActions   = []Action{MsgSend, MsgContextualize, MsgExecute, MsgAsk, MsgAnswer}
	agentActions = []Action{AgentStatus, AgentCancel, AgentDestroy, AgentInterrupt}
	otherActions = []Action{AgentSpawn, ToolUse, PolicyEdit}

	// targetActions have an agent as their resource.
	targetActions = slices.Concat(msgActions, agentActions)
	// plainActions are those that `defaults` may name: files have rules of
	// their own.
	plainActions = slices.Concat(targetActions, otherActions)
)

// Actions returns every action.
func Actions() []Action { return slices.Concat(readActions, writeActions, plainActions) }

// Words returns the actions that are not about files: a document's maps are
// keyed by those.
func (Action) Words() []string {
	words := make([]string, len(plainActions))
	for i, a := range plainActions {
		words[i] = string(a)
	}
	return words
}

// class groups actions by what decides about them.
type class uint8

const (
	unknownClass class = iota
	readClass
	writeClass
	messageClass // aimed at an agent, and subject to the send ACL
	agentClass   // aimed at an agent
	toolClass
	otherClass
)

func (a Action) class() class {
	switch a {
	case FSRead, FSList:
		return readClass
	case FSWrite, FSCreate, FSDelete, FSMove, FSMeta:
		return writeClass
	case MsgSend, MsgContextualize, MsgExecute, MsgAsk, MsgAnswer:
		return messageClass
	case AgentStatus, AgentCancel, AgentDestroy, AgentInterrupt:
		return agentClass
	case ToolUse:
		return toolClass
	case AgentSpawn, PolicyEdit:
		return otherClass
	}
	return unknownClass
}

// index is the action's place in plainActions, or -1.
func (a Action) index() int { return slices.Index(plainActions, a) }

// BashPolicy is what an agent's shell is meant for. It is advice to the agent's
// own command line; the view is the boundary. Only "none" is a rule: it
// refuses the tools that execute.
type BashPolicy string

// Words returns the shell policies, narrowest first.
func (BashPolicy) Words() []string {
	return []string{"none", "read_only", "explore", "test", "build_test"}
}

// Has reports whether what other stands for is within b. A word that is not known
// is within none.
func (b BashPolicy) Has(other BashPolicy) bool { return other.rank() >= 0 && other.rank() <= b.rank() }

// rank orders shell policies by what they offer.
func (b BashPolicy) rank() int { return slices.Index(b.Words(), string(b)) }

// Mode says how the lists of a send ACL are read.
type Mode string

// The modes of a send ACL (X1).
const (
	Bypass    Mode = "bypass"    // any session
	Allowlist Mode = "allowlist" // those that a pattern matches
	Denylist  Mode = "denylist"  // all but those that a pattern matches
)

// Words returns the modes.
func (Mode) Words() []string { return []string{"bypass", "allowlist", "denylist"} }

// Asking says whether a request that needs asking may be put to anyone.
type Asking string

// Words returns "ask" and "deny".
func (Asking) Words() []string { return []string{"ask", "deny"} }

// word is a string type with a closed list of values.
type word interface{ Words() []string }
