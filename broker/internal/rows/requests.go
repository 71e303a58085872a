package rows

import (
	"github.com/pinfold-dev/pinfold/broker"
)

const requestColumns = `id, agent_id, approver_id, action, resource, also, tool, input, reason, digest,
	status, code, deny_reason, scope, until, deadline, resolver, created_at, resolved_at`

func scanRequest(scan Scan) (broker.Request, error) {
	var r broker.Request
	var also string
	var until, deadline, created, resolved *int64
	if err := scan(&r.ID, &r.AgentID, &r.ApproverID, (*string)(&r.Action), &r.Resource, &also, &r.Tool, &r.Input,
		&r.Reason, &r.Digest, (*string)(&r.Status), (*string)(&r.Code), &r.DenyReason, (*string)(&r.Scope),
		&until, &deadline, &r.Resolver, &created, &resolved); err != nil {
		return r, err
	}
	r.Until, r.Deadline = fromMicros(until), fromMicros(deadline)
	r.CreatedAt, r.ResolvedAt = fromMicros(created), fromMicros(resolved)
	return r, fromList(also, &r.Also)
}

// requestArgs are the values of requestColumns.
func requestArgs(r broker.Request) ([]any, error) {
	also, err := list(r.Also)
	return []any{r.ID, r.AgentID, r.ApproverID, string(r.Action), r.Resource, also, r.Tool, r.Input, r.Reason, r.Digest,
		string(r.Status), string(r.Code), r.DenyReason, string(r.Scope), micros(r.Until), micros(r.Deadline),
		r.Resolver, micros(r.CreatedAt), micros(r.ResolvedAt)}, err
}

func requestWhere(f broker.RequestFilter) *where {
	var w where
	w.equal("agent_id", f.AgentID)
	if f.ApproverID != nil {
		w.and("approver_id = ?", *f.ApproverID)
	}
	in(&w, "status", f.Statuses)
	w.equal("digest", f.Digest)
	if due := micros(f.Due); due != nil {
		w.and("(status = 'pending' AND deadline <= ? OR status = 'active' AND until <= ?)", *due, *due)
	}
	w.greater("id", f.After)
	return &w
}

// Request implements broker.ReadTx.
func (t *Tx) Request(id string) (r broker.Request, err error) {
	err = t.one("SELECT "+requestColumns+" FROM requests WHERE id = $1", func(scan Scan) (err error) {
		r, err = scanRequest(scan)
		return err
	}, id)
	return r, err
}

// Requests implements broker.ReadTx.
func (t *Tx) Requests(f broker.RequestFilter) (all []broker.Request, err error) {
	w := requestWhere(f)
	if f.Newest {
		w.add(" ORDER BY id DESC")
	} else {
		w.add(" ORDER BY id")
	}
	w.limit(f.Limit)
	err = t.query("SELECT "+requestColumns+" FROM requests"+w.sql.String(), func(scan Scan) error {
		r, err := scanRequest(scan)
		all = append(all, r)
		return err
	}, w.args...)
	return all, err
}

// CountRequests implements broker.ReadTx.
func (t *Tx) CountRequests(f broker.RequestFilter) (int, error) {
	w := requestWhere(f)
	return t.number("SELECT COUNT(*) FROM requests"+w.sql.String(), w.args...)
}

// InsertRequest implements broker.Tx.
func (t *Tx) InsertRequest(r broker.Request) error {
	args, err := requestArgs(r)
	if err != nil {
		return err
	}
	return t.insert("INSERT INTO requests ("+requestColumns+") VALUES ("+places(len(args))+")", args...)
}

// UpdateRequest implements broker.Tx.
func (t *Tx) UpdateRequest(r broker.Request, from broker.Status) error {
	if r.Status == broker.Pending && from != broker.Pending {
		taken, err := t.number(`SELECT COUNT(*) FROM requests
			WHERE agent_id = $1 AND digest = $2 AND status = 'pending'`, r.AgentID, r.Digest)
		if err != nil {
			return err
		}
		if taken > 0 {
			return broker.ErrExists
		}
	}
	v, err := requestArgs(r)
	if err != nil {
		return err
	}
	var w where
	w.add(`UPDATE requests SET agent_id = ?, approver_id = ?, action = ?, resource = ?, also = ?, tool = ?, input = ?,
		reason = ?, digest = ?, status = ?, code = ?, deny_reason = ?, scope = ?, until = ?, deadline = ?, resolver = ?,
		created_at = ?, resolved_at = ?`, v[1:]...)
	w.add(` WHERE id = ? AND status = ?`, r.ID, string(from))
	n, err := t.exec(w.sql.String(), w.args...)
	if err != nil || n > 0 {
		return err
	}
	return t.missed("requests", r.ID)
}
