package access

import (
	"slices"
	"strings"
)

// Action names what is asked for, in the words that policies use.
type Action string

// The actions. Those of files take a place as their resource, those of
// messages and of agents the id or session key of an agent.
const (
	FSRead           Action = "fs.read"
	FSList           Action = "fs.list"
	FSWrite          Action = "fs.write" // change a file's content; a skill's may make the file
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

// Kind says which rules decide about an action, and what its resource is. The
// zero value is that of a word that is no action.
type Kind uint8

const (
	// KindRead is what the rules about reading files decide.
	KindRead Kind = iota + 1
	// KindWrite is what the rules about changing files decide.
	KindWrite
	// KindMessage is aimed at an agent, and subject to the send ACL.
	KindMessage
	// KindAgent is aimed at an agent.
	KindAgent
	// KindTool is the use of a tool.
	KindTool
	// KindOther has no resource that rules tell apart.
	KindOther
)

// Actions returns every action.
func Actions() []Action {
	return []Action{
		FSRead, FSList, FSWrite, FSCreate, FSDelete, FSMove, FSMeta,
		MsgSend, MsgContextualize, MsgExecute, MsgAsk, MsgAnswer,
		AgentStatus, AgentCancel, AgentDestroy, AgentInterrupt, AgentSpawn,
		ToolUse, PolicyEdit,
	}
}

// ActionsOf returns the actions of these kinds.
func ActionsOf(kinds ...Kind) []Action {
	return slices.DeleteFunc(Actions(), func(a Action) bool { return !slices.Contains(kinds, a.Kind()) })
}

// Kind is the kind of the action.
func (a Action) Kind() Kind {
	switch a {
	case FSRead, FSList:
		return KindRead
	case FSWrite, FSCreate, FSDelete, FSMove, FSMeta:
		return KindWrite
	case MsgSend, MsgContextualize, MsgExecute, MsgAsk, MsgAnswer:
		return KindMessage
	case AgentStatus, AgentCancel, AgentDestroy, AgentInterrupt:
		return KindAgent
	case ToolUse:
		return KindTool
	case AgentSpawn, PolicyEdit:
		return KindOther
	}
	return 0
}

// OnFiles reports whether the resource is a place.
func (a Action) OnFiles() bool { return a.Kind() == KindRead || a.Kind() == KindWrite }

// GrantedAs is the action that stands for those that are granted together: a
// grant to read is one to list, and a grant to write is one to create.
func (a Action) GrantedAs() Action {
	switch a {
	case FSList:
		return FSRead
	case FSCreate:
		return FSWrite
	}
	return a
}

// Words returns the actions that are not about files: a document's maps are
// keyed by those.
func (Action) Words() []string {
	var words []string
	for _, a := range Actions() {
		if !a.OnFiles() {
			words = append(words, string(a))
		}
	}
	return words
}

// Access is one thing that a call does: an action, and what it is done to.
type Access struct {
	Action   Action `json:"action"`
	Resource string `json:"resource"`
}

// In is the same access as rules about a project see it in which this one lies in the
// directory dir; "" is the same project. Only places of files are relative to a project.
func (a Access) In(dir string) Access {
	switch {
	case dir == "" || !a.Action.OnFiles() || strings.HasPrefix(a.Resource, "/"):
	case a.Resource == ".":
		a.Resource = dir
	default:
		a.Resource = dir + "/" + a.Resource
	}
	return a
}
