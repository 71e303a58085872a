package broker

import (
	"context"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/permission"
)

// resumeTopic tells that a message came for an agent that has exited, or that
// an agent with a command to start it again has exited.
const resumeTopic = "resume"

// AwaitResume waits until a message that wakes has come for an agent that has
// exited and has a command that starts it again, and returns the agent and
// the newest of the messages that it has not been given. wanted says whether
// that is news; nil: it always is. It is for whoever runs processes: Started
// claims the agent, so that one of several starts it, and comes before its
// process.
func (b *Broker) AwaitResume(ctx context.Context, wanted func(Agent, Message) bool) (Agent, Message, error) {
	var found Agent
	var newest Message
	err := b.await(ctx, []string{resumeTopic}, time.Time{}, func(tx ReadTx) (bool, error) {
		exited, err := tx.Agents(AgentFilter{Resumable: true})
		if err != nil {
			return false, err
		}
		for _, a := range exited {
			waiting, err := tx.Messages(MessageFilter{RecipientID: a.ID, Undelivered: true, Limit: maxDelivered})
			if err != nil {
				return false, err
			}
			if !wakes(waiting) {
				continue
			}
			if last := waiting[len(waiting)-1]; wanted == nil || wanted(a, last) {
				found, newest = a, last
				return true, nil
			}
		}
		return false, nil
	})
	return found, newest, outcome(err)
}

// Resume decides whether who may have an agent that has exited started again:
// one of its managers whose own policy lets it hire, and only while there is
// room for another child. It waits for the manager where that has to be asked
// for. The agent keeps its session, policy and mailbox; what it was granted has
// ended. Started comes next, and claims it.
func (b *Broker) Resume(ctx context.Context, who Identity, id string) (Agent, error) {
	var a Agent
	call := access.Request{Action: access.AgentSpawn, Resource: id, Tool: createTool}
	err := b.control(ctx, who, "resume", call, func(t *tx, target Agent) error {
		switch target.State {
		case Exited:
		case Fired:
			return noSession(target.ID)
		default:
			return refuse(CodeExists, "agent '%s' has not ended", target.ID)
		}
		if target.ParentID != "" {
			parent, err := t.Agent(target.ParentID)
			if err == nil {
				err = t.roomFor(who, parent)
			}
			if err != nil {
				return err
			}
		}
		if err := t.keep(who, costAgent); err != nil {
			return err
		}
		a = target
		t.record(Record{Principal: who.String(), Action: "resume", Resource: a.ID, Effect: access.Allow, Code: permission.CodeAllowed, PolicyHash: a.PolicyHash})
		return nil
	})
	return a, err
}
