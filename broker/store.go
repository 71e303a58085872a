package broker

import (
	"context"
	"errors"
	"time"
)

// What a Store's operations return, beside errors of its own. They are compared
// with errors.Is.
var (
	// ErrNotFound: there is no such row.
	ErrNotFound = errors.New("not found")
	// ErrExists: a row with this id, or with another value that must be unique,
	// is there already. The transaction can go on.
	ErrExists = errors.New("exists already")
	// ErrConflict: the row is no longer what the caller took it for. The
	// transaction can go on.
	ErrConflict = errors.New("was changed meanwhile")
	// ErrFull: the disk is full. Nothing was done.
	ErrFull = errors.New("no space left for the broker's database")
)

// Store keeps what the broker knows. storetest has its contract. A store knows
// nothing of what the rows mean: it keeps them, in transactions, and holds what
// must be unique.
//
// Rows come back exactly as they were put in: a nil list is not an empty one.
// Times are in UTC and whole microseconds, which the broker sees to; the zero
// time comes back as the zero time. Strings are valid UTF-8 without NUL, which
// the broker sees to.
type Store interface {
	// Update runs fn in one transaction. All of it happened, on disk, when
	// Update returns nil, and nothing of it otherwise. Transactions that update
	// are one after the other, also those of other processes: fn sees what was
	// committed before it, and nothing else is committed while it runs. So fn
	// must not wait for anything. It may be run more than once, and then is
	// given another Tx; its error comes back as it is, wrapped or not.
	Update(ctx context.Context, fn func(Tx) error) error

	// View runs fn on one consistent state that holds all that was committed
	// before View was called. It does not wait for updates.
	View(ctx context.Context, fn func(ReadTx) error) error

	// Changes returns a channel of the topics of committed transactions, of
	// this process and of others, until ctx is done or the store is closed,
	// when it is closed. It is for waking up: "" stands for any topic, and is
	// sent where topics may have been lost or are not known. A reader that is
	// slow gets "" instead of what it missed; it never holds up an update. What
	// is committed after Changes returned is not missed.
	Changes(ctx context.Context) (<-chan string, error)

	// Close waits for the transactions that run.
	Close() error
}

// ReadTx reads within a transaction, under the context that Update or View was
// given. Lists are in order of id, messages and records in order of their
// sequence. A Limit of 0 is no limit.
type ReadTx interface {
	// Agent, Request, Message and Policy are ErrNotFound where there is none.
	Agent(id string) (Agent, error)
	Agents(f AgentFilter) ([]Agent, error)

	Request(id string) (Request, error)
	Requests(f RequestFilter) ([]Request, error)
	CountRequests(f RequestFilter) (int, error) // Limit does not count

	Message(id string) (Message, error)
	Messages(f MessageFilter) ([]Message, error)
	CountMessages(f MessageFilter) (int, error) // Limit does not count

	// Policy returns what PutPolicy put.
	Policy(hash string) ([]byte, error)

	// Head is zero where there is no record.
	Head() (Head, error)
	Records(f RecordFilter) ([]Record, error)

	// Waits are the agents that wait for another.
	Waits(f WaitFilter) ([]Wait, error)

	// Brokers returns when each broker that shares the store was last seen.
	Brokers() (map[string]time.Time, error)

	// Rate is the time under a key, zero where there is none.
	Rate(key string) (time.Time, error)

	// Usage is what was put for that owner and kind; where nothing was, only
	// these two are set. LeftOut are those whose LeftOut is not 0, by owner and
	// kind.
	Usage(owner string, kind UsageKind) (Usage, error)
	LeftOut() ([]Usage, error)
}

// Tx changes within a transaction.
type Tx interface {
	ReadTx

	// InsertAgent is ErrExists where the id, the session key or a token's hash
	// that is not "" is taken.
	InsertAgent(a Agent) error
	// UpdateAgent replaces the row, which must be in one of the given states:
	// otherwise ErrConflict; ErrNotFound where there is none; ErrExists for a
	// token's hash that is taken. ID, ParentID and CreatedAt do not change.
	UpdateAgent(a Agent, from ...State) error
	// DeleteAgent is ErrNotFound where there is no such row. Its id, its session
	// key and its token's hash are free afterwards.
	DeleteAgent(id string) error

	// InsertRequest is ErrExists where the id is taken, or where a pending row
	// has the same agent and digest.
	InsertRequest(r Request) error
	// UpdateRequest replaces the row, which must have the status from:
	// otherwise ErrConflict; ErrNotFound where there is none.
	UpdateRequest(r Request, from Status) error

	// InsertMessage gives the message its Seq, greater than any before, and
	// returns it. It is ErrExists where the id is taken, a Key that is not "",
	// or a ReplyTo that is not "". Of an id that is taken it may say so only when
	// Update runs its function again, so that many messages share one commit.
	InsertMessage(m Message) (Message, error)
	// MarkDelivered is ErrConflict, and changes nothing, unless all of them are
	// undelivered messages to the recipient.
	MarkDelivered(recipient string, ids []string, at time.Time) error
	// MarkAcked marks those of the messages that were delivered to the
	// recipient and are not yet acknowledged, and says how many.
	MarkAcked(recipient string, ids []string, at time.Time) (int, error)
	// DeleteMessages empties a mailbox and says how many messages it had.
	DeleteMessages(recipient string) (int, error)

	// PutPolicy keeps data under its hash. What is there already stays.
	PutPolicy(hash string, data []byte) error

	// Append adds records, whose sequence follows the head's, and makes head
	// the new one: ErrConflict, and nothing is changed, where they do not
	// follow.
	Append(records []Record, head Head) error

	// InsertWait is ErrExists where the broker has that wait already.
	InsertWait(w Wait) error
	// DeleteWaits deletes what matches and says how many.
	DeleteWaits(f WaitFilter) (int, error)

	// PutBroker says that a broker was seen; DeleteBroker forgets it and
	// deletes its waits.
	PutBroker(id string, seen time.Time) error
	DeleteBroker(id string) error

	// SetRate keeps a time under a key. DeleteRates forgets times before one.
	SetRate(key string, t time.Time) error
	DeleteRates(before time.Time) error

	// PutUsage replaces what was put for the same owner and kind.
	PutUsage(u Usage) error

	// Notify tells every Changes of a topic, once the transaction is
	// committed. The same topic twice may be told once.
	Notify(topic string)
}

// AgentFilter chooses agents; its zero value chooses all.
type AgentFilter struct {
	ParentID  *string   // of this parent
	States    []State   // in one of these
	Session   string    // with this session key
	TokenHash string    // with this token's hash
	Due       time.Time // with an Until that is not zero and not after it; zero chooses all
	After     string    // with an id greater than this
	Limit     int

	Present      bool // not archived
	LastArchived int  // archived, and of those that many that ended last, instead of Limit
	Process      bool // with a process
	Resumable    bool // exited, with a command that starts it again
}

// RequestFilter chooses requests; its zero value chooses all.
type RequestFilter struct {
	AgentID    string
	ApproverID *string
	Statuses   []Status
	Digest     string
	// Due chooses those whose Deadline is not zero and not after it (pending
	// ones), or whose Until is so (active ones). Zero chooses all.
	Due   time.Time
	After string // with an id greater than this
	Limit int
	// Newest has the newest come first; otherwise they are in order of creation.
	Newest bool
}

// MessageFilter chooses messages; its zero value chooses all.
type MessageFilter struct {
	RecipientID string
	SenderID    string
	ReplyTo     string
	Undelivered bool // only those
	Unacked     bool // only those, delivered or not
	AfterSeq    int64
	Limit       int
}

// RecordFilter chooses records; its zero value chooses all.
type RecordFilter struct {
	Principal string
	Action    string
	Effect    string
	Since     time.Time // not before
	AfterSeq  int64
	Limit     int
	// Last chooses the last Limit of those that match, still in order.
	Last bool
}

// Wait is an edge of the graph in which circles are looked for: the agent
// waits, and goes on only when the other acts.
type Wait struct {
	For      string // the key of this one wait; unique together with BrokerID
	AgentID  string
	OnID     string // "" is the operator
	BrokerID string // which broker holds the wait
}

// WaitFilter chooses waits; its zero value chooses all.
type WaitFilter struct {
	For      string
	AgentID  string
	BrokerID string
}
