package broker

import (
	"context"
	"time"
)

// resumeTopic tells that a message came for an agent that has exited.
const resumeTopic = "resume"

// AwaitResume waits until a message that wakes has come for an agent that has
// exited and has a command that starts it again (D4), and returns the agent. It
// is for whoever runs processes: Started claims the agent, so that one of
// several starts it, and comes before its process.
func (b *Broker) AwaitResume(ctx context.Context) (Agent, error) {
	var found Agent
	err := b.await(ctx, []string{resumeTopic}, time.Time{}, func(tx ReadTx) (bool, error) {
		exited, err := tx.Agents(AgentFilter{States: []State{Exited}})
		for _, a := range exited {
			if err != nil || len(a.Resume) == 0 {
				continue
			}
			var waiting []Message
			if waiting, err = tx.Messages(MessageFilter{RecipientID: a.ID, Undelivered: true, Limit: maxDelivered}); wakes(waiting) {
				found = a
				return true, err
			}
		}
		return false, err
	})
	return found, outcome(err)
}
