package broker

// Identity is who asks. It is made by a transport, from the connection
// that a request came over, and by nothing else: no field of a request makes
// one. The zero Identity is nobody, who is refused everything.
type Identity struct {
	agent    string
	operator bool
}

// Root is how the operator is called where agents are: in rows and records, in status, and
// as the sender and the target of messages. Agents that the operator hired report to it. No
// agent can be called so.
const (
	rootName    = "root"
	rootSession = "agent:" + rootName + ":main"
)

// root is the operator as the target of a message. It is no row: it has no policy, and
// nothing beneath it is its own.
func root() Agent { return Agent{ID: rootName, Session: rootSession, State: Idle} }

// AgentIdentity is the identity of an agent. Only a transport that has proved
// that its peer is that agent may call it. The operator's name makes nobody: a database
// from before it was one may have an agent that is called so.
func AgentIdentity(id string) Identity {
	if id == rootName {
		return Identity{}
	}
	return Identity{agent: id}
}

// OperatorIdentity is the identity of the person who runs the broker.
func OperatorIdentity() Identity { return Identity{operator: true} }

// Operator reports whether it is the operator.
func (i Identity) Operator() bool { return i.operator }

// AgentID is the agent's id, "" for the operator and for nobody.
func (i Identity) AgentID() string { return i.agent }

// String is how rows and records name it: the agent's id, or "root".
func (i Identity) String() string {
	if i.operator {
		return rootName
	}
	return i.agent
}
