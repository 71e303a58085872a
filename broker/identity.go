package broker

// Identity is who asks. It is made by a transport, from the connection
// that a request came over, and by nothing else: no field of a request makes
// one. The zero Identity is nobody, who is refused everything.
type Identity struct {
	agent    string
	operator bool
}

// operatorName is how the operator is called in rows; no agent can be.
const operatorName = "operator"

// AgentIdentity is the identity of an agent. Only a transport that has proved
// that its peer is that agent may call it.
func AgentIdentity(id string) Identity { return Identity{agent: id} }

// OperatorIdentity is the identity of the person who runs the broker.
func OperatorIdentity() Identity { return Identity{operator: true} }

// Operator reports whether it is the operator.
func (i Identity) Operator() bool { return i.operator }

// AgentID is the agent's id, "" for the operator and for nobody.
func (i Identity) AgentID() string { return i.agent }

// String is how rows and records name it: the agent's id, or "operator".
func (i Identity) String() string {
	if i.operator {
		return operatorName
	}
	return i.agent
}
