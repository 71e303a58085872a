package broker

import (
	"errors"
	"fmt"
)

// String is the end of a process in a sentence.
func (e Exit) String() string {
	if e.Signal != "" {
		return "ended by " + e.Signal
	}
	return fmt.Sprintf("exited with code %d", e.Code)
}

// recipientOf is the mailbox of a manager: "" is the operator.
func recipientOf(id string) string {
	if id == "" {
		return rootName
	}
	return id
}

// managerOfBox is whose mailbox that is: "" is the operator.
func managerOfBox(recipient string) string {
	if recipient == rootName {
		return ""
	}
	return recipient
}

// notifyEnd tells the parent that an agent has ended, once: when its
// process is gone, or at once where it has none.
func (t *tx) notifyEnd(a Agent) error {
	if a.EndedAt.IsZero() {
		return nil
	}
	how := a.Exit.String()
	if a.State == Fired {
		how = "was fired"
	}
	text := fmt.Sprintf("%s %s", a.ID, how)
	if a.Exit.Output != "" {
		text += "\nLast output: " + a.Exit.Output
	}
	return t.notify(a, fmt.Sprintf("end:%s:%d", a.ID, a.Turn), text)
}

// notifyIdle tells the parent that an agent waits for messages, once each time.
func (t *tx) notifyIdle(a Agent) error {
	text := a.ID + " is idle"
	err := t.keep(AgentIdentity(a.ID), costMessage+len(text))
	var full *Error
	if errors.As(err, &full) {
		return nil // its state is in the status
	}
	if err != nil {
		return err
	}
	return t.notify(a, fmt.Sprintf("idle:%s:%d", a.ID, a.Turn), text)
}

// notify puts a notification into the parent's mailbox. The key names the
// event: what was told is not told again.
func (t *tx) notify(a Agent, key, text string) error {
	if a.ParentID != "" {
		parent, err := t.Agent(a.ParentID)
		if err != nil {
			return err
		}
		if parent.State == Fired {
			return nil // its mailbox is gone
		}
	}
	err := t.tell(Message{RecipientID: recipientOf(a.ParentID), SenderID: a.ID, Type: TypeNotification, Verb: VerbSend, Content: text, Key: key})
	if errors.Is(err, ErrExists) {
		return nil
	}
	return err
}

// tell puts a message of the broker's own making into a mailbox. One sender
// fills only its share of a mailbox: beyond that its requests are in the inbox
// and its state in the status, but no message is added.
func (t *tx) tell(m Message) error {
	unread, err := t.CountMessages(MessageFilter{RecipientID: m.RecipientID, SenderID: m.SenderID, Unacked: true})
	if err != nil || unread >= maxFromOne {
		return err
	}
	m.ID, m.CreatedAt = newID(t.now), t.now
	if _, err = t.InsertMessage(m); err == nil {
		t.Notify(mailboxTopic(m.RecipientID))
		t.Notify(agentTopic(m.RecipientID))
	}
	return err
}
