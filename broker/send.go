package broker

import (
	"context"
	"errors"
	"slices"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/permission"
)

// The tools whose rules hold for what the broker does for an agent, however it is asked
// to: sendTool for every message.
const (
	sendTool    = "nexus_send"
	createTool  = "nexus_create"
	statusTool  = "nexus_status"
	cancelTool  = "nexus_cancel"
	destroyTool = "nexus_destroy"
)

// Outgoing is a message to be sent.
type Outgoing struct {
	To      string // a session key, agent:<id>:<session>
	Verb    Verb   // "" is send
	Content string // at most 64 KiB
	ReplyTo string // of an answer: the id of the ask that it closes

	// MayBlock says that the caller can wait where its policy wants sending to
	// be asked for.
	MayBlock bool
}

// Receipt is what became of a message.
type Receipt struct {
	Message Message `json:"message"`
	Key     string  `json:"key"`   // the session that it was sent to
	Route   string  `json:"route"` // where that session's answers go; "" for nowhere
	Text    string  `json:"text"`  // for whoever sent it
}

// Send puts a message into an agent's mailbox. It is on disk when Send returns.
// Every attempt is recorded. The order of checks is type, key, what the
// sender's policy and send ACL say, and only then whether the target exists,
// so that the refusal tells nobody who is there.
func (b *Broker) Send(ctx context.Context, who Identity, m Outgoing) (Receipt, error) {
	if !b.attempts.admit(who) {
		return Receipt{}, tooOften()
	}
	if m.Verb == "" {
		m.Verb = VerbSend
	}
	call := access.Request{Action: access.Action("msg." + m.Verb), Resource: m.To, Tool: sendTool, MayBlock: m.MayBlock, Input: jsonOf(map[string]string{"to": m.To, "content": m.Content})}
	var receipt Receipt
	err := b.asking(ctx, who, &call, func() error {
		return b.update(ctx, func(t *tx) (err error) {
			receipt, err = t.send(ctx, who, &m, &call)
			var refusal *Error
			if errors.As(err, &refusal) {
				return t.refused(who, string(call.Action), m.To, refusal)
			}
			return err
		})
	})
	return receipt, err
}

func (t *tx) send(ctx context.Context, who Identity, m *Outgoing, call *access.Request) (Receipt, error) {
	var sender Agent
	var err error
	if !who.operator {
		if sender, err = live(t, who); err != nil {
			return Receipt{}, err
		}
	}
	switch {
	case !slices.Contains(Verbs(), m.Verb):
		return Receipt{}, refuse(CodeInvalid, "[ERROR] Invalid type: \"%s\"\nValid types: send, contextualize, execute, ask, answer", shown(string(m.Verb), maxShown))
	case len(m.Content) > maxContent:
		return Receipt{}, refuse(CodeTooLarge, "[ERROR] A message has at most %d bytes", maxContent)
	}
	reply, toOperator, err := t.replyTo(who, m)
	if err != nil {
		return Receipt{}, err
	}
	if toOperator { // a person has asked: nothing more is to be allowed
		return t.deliver(who, sender, root(), m, reply)
	}
	if err := t.checkKey(ctx, who, sender, m.To); err != nil {
		return Receipt{}, err
	}
	if !who.operator {
		if err := t.permitted(ctx, sender, call); err != nil {
			return Receipt{}, err
		}
	}
	target, err := t.session(ctx, who, sender, m.To)
	if err != nil {
		return Receipt{}, err
	}
	return t.deliver(who, sender, target, m, reply)
}

// replyTo is the ask that an answer closes. Only whoever was asked may answer,
// and an ask of the operator is answered to the operator.
func (t *tx) replyTo(who Identity, m *Outgoing) (ask Message, toOperator bool, err error) {
	if m.Verb != VerbAnswer {
		if m.ReplyTo != "" {
			err = refuse(CodeInvalid, "[ERROR] Only an answer replies to a message")
		}
		return Message{}, false, err
	}
	ask, err = t.Message(m.ReplyTo)
	switch {
	case errors.Is(err, ErrNotFound) || err == nil && (ask.Verb != VerbAsk || ask.RecipientID != who.String() || ask.DeliveredAt.IsZero()):
		return Message{}, false, refuse(CodeNotFound, "[ERROR] There is no question \"%s\" to answer", shown(m.ReplyTo, maxShown))
	case err != nil:
		return Message{}, false, err
	}
	return ask, ask.SenderID == rootName, nil
}

// deliver puts the message into the mailbox, within the limits of mailboxes and of
// causal chains.
func (t *tx) deliver(who Identity, sender, target Agent, m *Outgoing, ask Message) (Receipt, error) {
	if ask.ID != "" && ask.SenderID != target.ID {
		return Receipt{}, refuse(CodeInvalid, "[ERROR] The question \"%s\" was asked by \"%s\"", ask.ID, ask.SenderID)
	}
	out := Message{
		ID: newID(t.now), RecipientID: target.ID, Session: target.Session, SenderID: who.String(), Type: TypeManager, Verb: m.Verb,
		Content: storable(m.Content), ReplyTo: m.ReplyTo, CreatedAt: t.now,
	}
	if !who.operator {
		var err error
		if out.Chain, err = chain(sender.Cause, sender.ID, target.ID); err != nil {
			return Receipt{}, err
		}
		if err := t.room(sender.ID, target.ID); err != nil {
			return Receipt{}, err
		}
		if err := t.takeRate(sender.ID, target.ID); err != nil {
			return Receipt{}, err
		}
		bytes := costMessage + len(out.Content)
		starts, err := t.startsAgain(target, out)
		if err != nil {
			return Receipt{}, err
		}
		if starts {
			bytes += costAgent
		}
		if err := t.keep(who, bytes); err != nil {
			return Receipt{}, err
		}
	}
	out, err := t.InsertMessage(out)
	if errors.Is(err, ErrExists) {
		return Receipt{}, refuse(CodeResolved, "[ERROR] The question \"%s\" is answered already", m.ReplyTo)
	}
	if err != nil {
		return Receipt{}, err
	}
	if who.operator { // an agent's attempt is recorded by its policy's decision
		t.record(Record{Principal: who.String(), Action: "msg." + string(m.Verb), Resource: target.Session, Effect: access.Allow, Code: permission.CodeAllowed})
	}
	t.Notify(mailboxTopic(target.ID))
	t.Notify(agentTopic(target.ID))
	if target.State == Exited {
		t.Notify(resumeTopic)
	}
	if ask.ID != "" {
		t.Notify(answerTopic(ask.ID))
	}
	return Receipt{Message: out, Key: target.Session, Route: target.Route, Text: sentText(m.Verb, target)}, nil
}

// startsAgain reports whether an agent that has exited is started again because of this
// message: it wakes, and none that came since the exit has done so already.
func (t *tx) startsAgain(target Agent, m Message) (bool, error) {
	if target.State != Exited {
		return false, nil
	}
	waiting, err := t.Messages(MessageFilter{RecipientID: target.ID, Undelivered: true, Limit: maxDelivered})
	if err != nil {
		return false, err
	}
	waiting = slices.DeleteFunc(waiting, func(m Message) bool { return m.CreatedAt.Before(target.EndedAt) })
	return !wakes(waiting) && wakes(append(waiting, m)), nil
}

// sentText says where a message went, and that an answer from there reaches no channel,
// where the agent has channels. Nobody misses one of an agent that has none.
func sentText(v Verb, target Agent) string {
	text := "✓ [" + string(v) + "] sent to " + target.Session
	if target.Route == "" && target.routed() {
		text += " (no routing — response won't reach a channel)"
	}
	return text
}

// chain is the causal chain of a message: that of the message that its sender
// acts upon, and the sender. A person's message begins a new one.
func chain(cause []string, sender, target string) ([]string, error) {
	path := append(slices.Clone(cause), sender)
	if len(path) > maxHops {
		return nil, refuse(codeHopLimit, "[ERROR] Hop limit: the message would be number %d of one chain without a person in between, and %d are allowed", len(path), maxHops)
	}
	same := 1
	for i := range len(path) - 1 {
		if path[i] == sender && path[i+1] == target {
			same++
		}
	}
	if same >= maxSameEdge {
		return nil, refuse(codeLoop, "[ERROR] Loop: \"%s\" would send to \"%s\" for the %drd time in one chain without a person in between", sender, target, same)
	}
	return path, nil
}

// room refuses what would fill a mailbox.
func (t *tx) room(from, to string) error {
	for _, limit := range []struct {
		f    MessageFilter
		most int
	}{{MessageFilter{RecipientID: to, SenderID: from, Unacked: true}, maxFromOne}, {MessageFilter{RecipientID: to, Unacked: true}, maxMailbox}} {
		n, err := t.CountMessages(limit.f)
		if err != nil {
			return err
		}
		if n >= limit.most {
			return refuse(CodeTooMany, "[ERROR] The mailbox of \"%s\" is full: %d messages wait in it to be acknowledged", to, n)
		}
	}
	return nil
}
