package rows

import (
	"errors"
	"slices"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
)

// A message changes ten rows and needs twenty. One statement for each of them, one after
// the other while nobody else may write, is what bounds a server that is a round trip
// away. So updates keep what they have read for those that follow, and write what nobody
// asks the database for (the audit, usages, rates, counters) once, when a batch is
// committed; so are new messages, unless somebody reads messages before. Both rest on nobody else writing in between, which Backend.Begin tells.

// maxKnown bounds the rows that are kept; beyond it all are read again.
const maxKnown = 20_000

// layer is what is known of the database, and what is still to be written to it. There is
// one of a batch, and on it one of each update, which is dropped where the update fails.
type layer struct {
	agents  map[string]broker.Agent
	changed map[string]bool // agents that this update has changed: those of the batch are old

	usages    map[purse]broker.Usage
	usagesNew map[purse]bool // to be written
	rates     map[string]time.Time
	ratesNew  map[string]bool
	before    time.Time // rates before it are to be deleted

	head    *broker.Head // nil where it is not known
	written broker.Head  // the head that the database has, where there are records
	records []broker.Record

	// unacked are the unacknowledged messages in a mailbox, by sender; "" is all.
	unacked map[string]map[string]int
	acked   map[string]bool // mailboxes in which this update has acknowledged or deleted some

	seq    *int64 // of the last message
	seqNew bool

	messages []broker.Message // new ones, to be written
}

// purse is what a usage is of.
type purse struct {
	owner string
	kind  broker.UsageKind
}

func newLayer() *layer {
	return &layer{
		agents: map[string]broker.Agent{}, changed: map[string]bool{}, usages: map[purse]broker.Usage{}, usagesNew: map[purse]bool{},
		rates: map[string]time.Time{}, ratesNew: map[string]bool{},
		unacked: map[string]map[string]int{}, acked: map[string]bool{},
	}
}

// size is how many rows are known.
func (l *layer) size() int { return len(l.agents) + len(l.usages) + len(l.rates) + len(l.unacked) }

// dirty reports whether there is anything to write.
func (l *layer) dirty() bool {
	return len(l.usagesNew) > 0 || len(l.ratesNew) > 0 || !l.before.IsZero() || len(l.records) > 0 || l.seqNew || len(l.messages) > 0
}

// join takes over what an update that succeeded knows and has to write.
func (l *layer) join(own *layer) {
	for id := range own.changed {
		delete(l.agents, id)
	}
	for id, a := range own.agents {
		l.agents[id] = a
	}
	for box := range own.acked {
		delete(l.unacked, box)
	}
	for box, senders := range own.unacked {
		for sender, n := range senders {
			l.count(box, sender, n)
		}
	}
	for p, u := range own.usages {
		l.usages[p] = u
	}
	for p := range own.usagesNew {
		l.usagesNew[p] = true
	}
	if !own.before.IsZero() {
		l.forget(own.before)
	}
	for name, at := range own.rates {
		l.rates[name] = at
	}
	for name := range own.ratesNew {
		l.ratesNew[name] = true
	}
	if len(own.records) > 0 {
		if len(l.records) == 0 {
			l.written = own.written
		}
		l.records = append(l.records, own.records...)
	}
	if own.head != nil {
		l.head = own.head
	}
	if own.seq != nil {
		l.seq, l.seqNew = own.seq, l.seqNew || own.seqNew
	}
	l.messages = append(l.messages, own.messages...)
}

// count notes how many messages of a sender are not acknowledged.
func (l *layer) count(box, sender string, n int) {
	if l.unacked[box] == nil {
		l.unacked[box] = map[string]int{}
	}
	l.unacked[box][sender] = n
}

// unacked is what layer.unacked says; ok is false where nothing is known.
func (t *Tx) unacked(box, sender string) (n int, ok bool) {
	if n, ok = t.own.unacked[box][sender]; !ok && !t.own.acked[box] {
		n, ok = t.batch.unacked[box][sender]
	}
	return n, ok
}

// delivered counts a message that was put into a mailbox.
func (t *Tx) delivered(m broker.Message) {
	if !m.AckedAt.IsZero() {
		return
	}
	for _, sender := range slices.Compact([]string{m.SenderID, ""}) {
		if n, ok := t.unacked(m.RecipientID, sender); ok {
			t.own.count(m.RecipientID, sender, n+1)
		}
	}
}

// emptied forgets what was counted in a mailbox.
func (t *Tx) emptied(box string) {
	if t.own != nil {
		t.own.acked[box] = true
		delete(t.own.unacked, box)
	}
}

// forget notes that rates before a time are deleted.
func (l *layer) forget(before time.Time) {
	for name, at := range l.rates {
		if at.Before(before) {
			delete(l.rates, name)
			delete(l.ratesNew, name)
		}
	}
	if before.After(l.before) {
		l.before = before
	}
}

// clean notes that everything is written.
func (l *layer) clean() {
	clear(l.usagesNew)
	clear(l.ratesNew)
	l.before, l.records, l.seqNew, l.messages = time.Time{}, nil, false, nil
}

// errHead is that somebody else has written the audit, though nobody could.
var errHead = errors.New("bug: the audit's head is another one than the last that was written")

// write writes what is to be written.
func (l *layer) write(many func([]Stmt) ([]int64, error)) error {
	if !l.dirty() {
		return nil
	}
	all := messageStmts(l.messages)
	headAt := -1
	if !l.before.IsZero() {
		all = append(all, Stmt{"DELETE FROM rates WHERE at < $1 OR at IS NULL", []any{micros(l.before)}})
	}
	for name := range l.ratesNew {
		all = append(all, rateStmt(name, l.rates[name]))
	}
	for p := range l.usagesNew {
		all = append(all, usageStmt(l.usages[p]))
	}
	if l.seqNew {
		all = append(all, Stmt{"UPDATE counters SET value = $1 WHERE name = 'message'", []any{*l.seq}})
	}
	if len(l.records) > 0 {
		headAt = len(all)
		all = append(all, Stmt{"UPDATE head SET seq = $1, hash = $2 WHERE seq = $3 AND hash = $4",
			[]any{l.head.Seq, string(l.head.Hash), l.written.Seq, string(l.written.Hash)}})
		for _, r := range l.records {
			all = append(all, recordStmt(r))
		}
	}
	counts, err := many(all)
	if err != nil {
		return err
	}
	if err := allInserted(counts[:len(l.messages)]); err != nil {
		return err
	}
	if headAt >= 0 && counts[headAt] != 1 {
		return errHead
	}
	l.clean()
	return nil
}

// errSettle ends an update that reads, by another way than its key, what those before it
// have still to write. It is run again, alone.
var errSettle = errors.New("what was changed has to be written first")

// settled writes what the update has changed, for a query that does not ask by its key.
func (t *Tx) settled() error {
	switch {
	case t.own == nil:
		return nil
	case t.batch.dirty():
		t.broken = errSettle
		return errSettle
	}
	return t.own.write(t.many)
}

// settledMessages writes the messages that are still to be written, for a query or a
// change of messages. Those of the updates before are written before the first change of
// this one, which may be undone.
func (t *Tx) settledMessages() error {
	switch {
	case t.own == nil:
		return nil
	case len(t.batch.messages) > 0 && t.changed:
		t.broken = errSettle
		return errSettle
	case len(t.batch.messages) > 0:
		counts, err := t.backend.Many(t.run, messageStmts(t.batch.messages))
		if err == nil {
			err = allInserted(counts)
		}
		if err != nil {
			t.broken = err
			return err
		}
		t.batch.messages = nil
	}
	if len(t.own.messages) == 0 {
		return nil
	}
	counts, err := t.many(messageStmts(t.own.messages))
	if err != nil {
		return err
	}
	if err := allInserted(counts); err != nil {
		t.broken = err
		return err
	}
	t.own.messages = nil
	return nil
}

// put is called when an update has changed its layer.
func (t *Tx) put() error {
	if !t.through {
		return nil
	}
	return t.own.write(t.many)
}

// many runs statements, and undoes none but with all of the update.
func (t *Tx) many(all []Stmt) ([]int64, error) {
	if t.save && !t.changed {
		all = slices.Insert(all, 0, Stmt{SQL: "SAVEPOINT " + savepoint})
	}
	saved := len(all) > 0 && t.save && !t.changed
	t.changed = true
	counts, err := t.backend.Many(t.run, all)
	if err != nil {
		t.broken = err
		return nil, err
	}
	if saved {
		counts = counts[1:]
	}
	return counts, nil
}
