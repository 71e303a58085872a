package brokerhttp

import (
	"github.com/pinfold-dev/pinfold/broker"
)

func (c *call) send() (any, error) {
	var body SendBody
	if err := c.body(&body); err != nil {
		return nil, err
	}
	c.takesLong(maxAwait) // the manager may have to be asked
	return c.s.b.Send(c.Context(), c.who, broker.Outgoing{To: body.To, Verb: body.Verb, Content: body.Content, ReplyTo: body.ReplyTo, MayBlock: true})
}

// mailbox hands messages over. Who waits for them is idle meanwhile.
func (c *call) mailbox() (any, error) {
	ctx, cancel, err := c.waiting(maxWait)
	if err != nil {
		return nil, err
	}
	defer cancel()
	if c.URL.Query().Get("wait") == "" {
		return list(c.s.b.Receive(c.Context(), c.who, false))
	}
	messages, err := c.s.b.Receive(ctx, c.who, true)
	if c.timeIsUp(err) {
		err = nil
	}
	return list(messages, err)
}

// answer is the answer to a question of the caller's; with wait, it waits for
// one. Without one the caller asks again: the question stays.
func (c *call) answer() (any, error) {
	ctx, cancel, err := c.waiting(maxWait)
	if err != nil {
		return nil, err
	}
	defer cancel()
	id := c.PathValue("id")
	m, err := c.s.b.AwaitAnswer(ctx, c.who, id)
	if c.timeIsUp(err) {
		m, err = c.s.b.AnswerTo(c.Context(), c.who, id)
	}
	if err != nil || m.ID == "" {
		return answered{}, err
	}
	return answered{Answer: &m}, nil
}

func (c *call) ack() (any, error) {
	var body ackBody
	if err := c.body(&body); err != nil {
		return nil, err
	}
	n, err := c.s.b.Ack(c.Context(), c.who, body.IDs...)
	return acked{Acked: n}, err
}
