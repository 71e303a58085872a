package broker

import "time"

// MessageType says what a message is for its reader.
type MessageType string

// The types of messages.
const (
	TypeManager           MessageType = "manager"            // somebody says something
	TypeNotification      MessageType = "notification"       // a child went idle, exited or was fired
	TypePermissionRequest MessageType = "permission_request" // a child asks for leave
)

// Verb is what a message wants of its reader.
type Verb string

// The verbs.
const (
	VerbSend          Verb = "send"          // deliver
	VerbContextualize Verb = "contextualize" // queue without waking
	VerbExecute       Verb = "execute"       // wake
	VerbAsk           Verb = "ask"           // wake, and expect one answer
	VerbAnswer        Verb = "answer"        // closes its ask
)

// Verbs returns the verbs in the order in which messages list them.
func Verbs() []Verb {
	return []Verb{VerbSend, VerbContextualize, VerbExecute, VerbAsk, VerbAnswer}
}

// Message is one row of a mailbox.
type Message struct {
	ID          string      `json:"id"`                // UUID
	Seq         int64       `json:"seq"`               // the order in the store, from 1; the store gives it
	RecipientID string      `json:"recipient_id"`      // an agent's id, or "root", the operator
	SenderID    string      `json:"sender_id"`         // an agent's id, or "root", the operator; of a notification, whom it is about
	Session     string      `json:"session,omitempty"` // the recipient's session that it was sent to; "" for none in particular
	Type        MessageType `json:"type"`
	Verb        Verb        `json:"verb"`
	Content     string      `json:"content"`            // untrusted where an agent sent it
	ReplyTo     string      `json:"reply_to,omitempty"` // of an answer: the id of its ask; one answer each

	// Key names the event that a notification tells, so that it is told once;
	// "" for other messages. Unique where it is not empty.
	Key string `json:"-"`

	// Chain are the agents whose messages led to this one, the sender last
	//; nil for a person's.
	Chain []string `json:"chain,omitempty"`

	CreatedAt   time.Time `json:"created_at,omitzero"`
	DeliveredAt time.Time `json:"delivered_at,omitzero"` // zero until it was handed to its reader, once
	AckedAt     time.Time `json:"acked_at,omitzero"`     // zero until the reader said that it has it
}
