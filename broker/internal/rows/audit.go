package rows

import (
	"slices"

	"github.com/pinfold-dev/pinfold/broker"
)

const recordColumns = `seq, prev, hash, at, principal, action, resource, tool, effect, code, reason, rule, policy_hash, request_id`

func scanRecord(scan Scan) (broker.Record, error) {
	var r broker.Record
	var at *int64
	err := scan(&r.Seq, (*string)(&r.Prev), (*string)(&r.Hash), &at, &r.Principal, &r.Action, &r.Resource, &r.Tool,
		(*string)(&r.Effect), (*string)(&r.Code), &r.Reason, &r.Rule, &r.PolicyHash, &r.RequestID)
	r.Time = fromMicros(at)
	return r, err
}

// Head implements broker.ReadTx.
func (t *Tx) Head() (h broker.Head, err error) {
	if t.own != nil {
		known := t.own.head
		if known == nil {
			known = t.batch.head
		}
		if err := t.fit(nil); known != nil || err != nil {
			if err == nil {
				h = *known
			}
			return h, err
		}
	}
	err = t.one("SELECT seq, hash FROM head", func(scan Scan) error { return scan(&h.Seq, (*string)(&h.Hash)) })
	if err == nil && t.own != nil {
		t.batch.head = &h
	}
	return h, err
}

// Records implements broker.ReadTx.
func (t *Tx) Records(f broker.RecordFilter) (all []broker.Record, err error) {
	if err := t.settled(); err != nil {
		return nil, err
	}
	var w where
	w.equal("principal", f.Principal)
	w.equal("action", f.Action)
	w.equal("effect", f.Effect)
	if since := micros(f.Since); since != nil {
		w.and("at >= ?", *since)
	}
	if f.AfterSeq > 0 {
		w.and("seq > ?", f.AfterSeq)
	}
	last := f.Last && f.Limit > 0
	if last {
		w.add(" ORDER BY seq DESC")
	} else {
		w.add(" ORDER BY seq")
	}
	w.limit(f.Limit)
	err = t.query("SELECT "+recordColumns+" FROM records"+w.sql.String(), func(scan Scan) error {
		r, err := scanRecord(scan)
		all = append(all, r)
		return err
	}, w.args...)
	if last {
		slices.Reverse(all)
	}
	return all, err
}

// Append implements broker.Tx. Whether a record's hash is right is the broker's
// matter; that they are in a row is checked here.
func (t *Tx) Append(records []broker.Record, head broker.Head) error {
	if len(records) == 0 {
		end, err := t.Head()
		if err == nil && end != head {
			err = broker.ErrConflict
		}
		return err
	}
	before := broker.Head{Seq: records[0].Seq - 1, Hash: records[0].Prev}
	end := before
	for _, r := range records {
		if r.Seq != end.Seq+1 || r.Prev != end.Hash {
			return broker.ErrConflict
		}
		end = broker.Head{Seq: r.Seq, Hash: r.Hash}
	}
	if end != head {
		return broker.ErrConflict
	}
	if t.own == nil {
		return errReadOnly
	}
	have, err := t.Head()
	switch {
	case err != nil:
		return err
	case have != before:
		return broker.ErrConflict
	}
	for _, r := range records {
		if err := t.changeable(recordStmt(r).Args); err != nil {
			return err
		}
	}
	if len(t.own.records) == 0 {
		t.own.written = before
	}
	t.own.records, t.own.head = append(t.own.records, records...), &head
	return t.put()
}

func recordStmt(r broker.Record) Stmt {
	return Stmt{"INSERT INTO records (" + recordColumns + ") VALUES (" + places(14) + ")", []any{
		r.Seq, string(r.Prev), string(r.Hash), micros(r.Time), r.Principal, r.Action, r.Resource, r.Tool,
		string(r.Effect), string(r.Code), r.Reason, r.Rule, r.PolicyHash, r.RequestID,
	}}
}
