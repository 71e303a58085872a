package rows

import (
	"errors"
	"slices"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
)

const messageColumns = `id, seq, recipient_id, sender_id, type, verb, content, reply_to, event_key, chain,
	created_at, delivered_at, acked_at, session`

func scanMessage(scan Scan) (broker.Message, error) {
	var m broker.Message
	var chain string
	var created, delivered, acked *int64
	if err := scan(&m.ID, &m.Seq, &m.RecipientID, &m.SenderID, (*string)(&m.Type), (*string)(&m.Verb), &m.Content,
		&m.ReplyTo, &m.Key, &chain, &created, &delivered, &acked, &m.Session); err != nil {
		return m, err
	}
	m.CreatedAt, m.DeliveredAt, m.AckedAt = fromMicros(created), fromMicros(delivered), fromMicros(acked)
	return m, fromList(chain, &m.Chain)
}

func messageWhere(f broker.MessageFilter) *where {
	var w where
	w.equal("recipient_id", f.RecipientID)
	w.equal("sender_id", f.SenderID)
	w.equal("reply_to", f.ReplyTo)
	if f.Undelivered {
		w.and("delivered_at IS NULL")
	}
	if f.Unacked {
		w.and("acked_at IS NULL")
	}
	if f.AfterSeq > 0 {
		w.and("seq > ?", f.AfterSeq)
	}
	return &w
}

// Message implements broker.ReadTx.
func (t *Tx) Message(id string) (m broker.Message, err error) {
	if err := t.settledMessages(); err != nil {
		return m, err
	}
	err = t.one("SELECT "+messageColumns+" FROM messages WHERE id = $1", func(scan Scan) (err error) {
		m, err = scanMessage(scan)
		return err
	}, id)
	return m, err
}

// Messages implements broker.ReadTx.
func (t *Tx) Messages(f broker.MessageFilter) (all []broker.Message, err error) {
	if err := t.settledMessages(); err != nil {
		return nil, err
	}
	w := messageWhere(f)
	w.add(" ORDER BY seq")
	w.limit(f.Limit)
	err = t.query("SELECT "+messageColumns+" FROM messages"+w.sql.String(), func(scan Scan) error {
		m, err := scanMessage(scan)
		all = append(all, m)
		return err
	}, w.args...)
	return all, err
}

// CountMessages implements broker.ReadTx.
func (t *Tx) CountMessages(f broker.MessageFilter) (int, error) {
	count := func() (int, error) {
		if err := t.settledMessages(); err != nil {
			return 0, err
		}
		w := messageWhere(f)
		return t.number("SELECT COUNT(*) FROM messages"+w.sql.String(), w.args...)
	}
	f.Limit = 0
	if box := (broker.MessageFilter{RecipientID: f.RecipientID, SenderID: f.SenderID, Unacked: true}); t.own == nil || f != box || f.RecipientID == "" {
		return count()
	}
	if n, ok := t.unacked(f.RecipientID, f.SenderID); ok {
		return n, t.fit([]any{f.RecipientID, f.SenderID})
	}
	n, err := count()
	if err == nil {
		// What this update has changed may be among them.
		t.own.count(f.RecipientID, f.SenderID, n)
	}
	return n, err
}

// InsertMessage implements broker.Tx. The counter outlives the messages, so
// that an emptied mailbox does not bring a sequence back. A message that nothing but its
// id can keep out is written with the commit.
func (t *Tx) InsertMessage(m broker.Message) (broker.Message, error) {
	last, err := t.lastMessage()
	if err != nil {
		return m, err
	}
	m.Seq = last + 1
	stmt, err := messageStmt(m)
	if err != nil {
		return m, err
	}
	if err := t.changeable(stmt.Args); err != nil {
		return m, err
	}
	if t.through || m.Key != "" || m.ReplyTo != "" {
		if err := t.settledMessages(); err != nil {
			return m, err
		}
		n, err := t.exec(stmt.SQL, stmt.Args...)
		if err == nil && n == 0 {
			err = broker.ErrExists
		}
		if err != nil {
			return m, err
		}
	} else {
		t.own.messages = append(t.own.messages, m)
	}
	t.own.seq, t.own.seqNew = &m.Seq, true
	t.delivered(m)
	return m, t.put()
}

func messageStmt(m broker.Message) (Stmt, error) {
	chain, err := list(m.Chain)
	return Stmt{"INSERT INTO messages (" + messageColumns + ") VALUES (" + places(14) + ") ON CONFLICT DO NOTHING", []any{
		m.ID, m.Seq, m.RecipientID, m.SenderID, string(m.Type), string(m.Verb), m.Content, m.ReplyTo, m.Key,
		chain, micros(m.CreatedAt), micros(m.DeliveredAt), micros(m.AckedAt), m.Session,
	}}, err
}

// messageStmts are the statements of messages that InsertMessage has taken.
func messageStmts(all []broker.Message) []Stmt {
	stmts := make([]Stmt, len(all))
	for i, m := range all {
		stmts[i], _ = messageStmt(m) // its chain was a list before
	}
	return stmts
}

// errTaken is that a message met the id of another one. The updates are run again, each
// alone, where the one that it is of is told.
var errTaken = errors.New("a message's id is there already")

// allInserted is errTaken where one was not.
func allInserted(counts []int64) error {
	if slices.Contains(counts, 0) {
		return errTaken
	}
	return nil
}

// lastMessage is the sequence of the message before the next.
func (t *Tx) lastMessage() (int64, error) {
	switch {
	case t.own == nil:
		return 0, errReadOnly
	case t.own.seq != nil:
		return *t.own.seq, nil
	case t.batch.seq != nil:
		return *t.batch.seq, nil
	}
	var seq int64
	err := t.one("SELECT value FROM counters WHERE name = 'message'", func(scan Scan) error { return scan(&seq) })
	if err == nil {
		t.batch.seq = &seq
	}
	return seq, err
}

// MarkDelivered implements broker.Tx.
func (t *Tx) MarkDelivered(recipient string, ids []string, at time.Time) error {
	if err := t.settledMessages(); err != nil {
		return err
	}
	ids = distinct(ids)
	found := 0
	err := chunks(ids, func(part []string) error {
		var w where
		in(&w, "id", part)
		w.and("recipient_id = ? AND delivered_at IS NULL", recipient)
		n, err := t.number("SELECT COUNT(*) FROM messages"+w.sql.String(), w.args...)
		found += n
		return err
	})
	if err != nil {
		return err
	}
	if found != len(ids) {
		return broker.ErrConflict
	}
	return chunks(ids, func(part []string) error {
		var w where
		w.add("UPDATE messages SET delivered_at = ? WHERE recipient_id = ?", micros(at), recipient)
		in(&w, "id", part)
		_, err := t.exec(w.sql.String(), w.args...)
		return err
	})
}

// MarkAcked implements broker.Tx.
func (t *Tx) MarkAcked(recipient string, ids []string, at time.Time) (int, error) {
	if err := t.settledMessages(); err != nil {
		return 0, err
	}
	t.emptied(recipient)
	marked := 0
	err := chunks(distinct(ids), func(part []string) error {
		var w where
		w.add("UPDATE messages SET acked_at = ? WHERE recipient_id = ? AND delivered_at IS NOT NULL AND acked_at IS NULL",
			micros(at), recipient)
		in(&w, "id", part)
		n, err := t.exec(w.sql.String(), w.args...)
		marked += int(n)
		return err
	})
	return marked, err
}

// DeleteMessages implements broker.Tx.
func (t *Tx) DeleteMessages(recipient string) (int, error) {
	if err := t.settledMessages(); err != nil {
		return 0, err
	}
	t.emptied(recipient)
	n, err := t.exec("DELETE FROM messages WHERE recipient_id = $1", recipient)
	return int(n), err
}

func distinct(ids []string) []string {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}
