package rows

import (
	"errors"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/broker"
)

const agentColumns = `id, parent_id, session, cwd, model, tools, task, policy_hash, route, resume, cross_send,
	state, turns, interrupts, process, cause, token_hash, created_at, ended_at, exit_code, exit_signal, exit_output, sessions, launch, archived, until`

func scanAgent(scan Scan) (broker.Agent, error) {
	var a broker.Agent
	var tools, resume, cross, cause, sessions string
	var created, ended, until *int64
	var code, archived int64
	if err := scan(&a.ID, &a.ParentID, &a.Session, &a.Cwd, &a.Model, &tools, &a.Task, &a.PolicyHash, &a.Route,
		&resume, &cross, (*string)(&a.State), &a.Turn, &a.Interrupts, &a.Process, &cause, &a.TokenHash,
		&created, &ended, &code, &a.Exit.Signal, &a.Exit.Output, &sessions, &a.Launch, &archived, &until); err != nil {
		return a, err
	}
	a.CreatedAt, a.EndedAt, a.Until, a.Exit.Code, a.Archived = fromMicros(created), fromMicros(ended), fromMicros(until), int(code), archived != 0
	return a, errors.Join(fromList(tools, &a.Tools), fromList(resume, &a.Resume),
		fromList(cross, &a.CrossSend), fromList(cause, &a.Cause), fromList(sessions, &a.Sessions))
}

// agentArgs are the values of agentColumns.
func agentArgs(a broker.Agent) ([]any, error) {
	tools, err1 := list(a.Tools)
	resume, err2 := list(a.Resume)
	cross, err3 := list(a.CrossSend)
	cause, err4 := list(a.Cause)
	sessions, err5 := list(a.Sessions)
	archived := int64(0)
	if a.Archived {
		archived = 1
	}
	return []any{a.ID, a.ParentID, a.Session, a.Cwd, a.Model, tools, a.Task, a.PolicyHash, a.Route, resume, cross,
		string(a.State), a.Turn, a.Interrupts, a.Process, cause, a.TokenHash,
		micros(a.CreatedAt), micros(a.EndedAt), int64(a.Exit.Code), a.Exit.Signal, a.Exit.Output, sessions, a.Launch, archived, micros(a.Until),
	}, errors.Join(err1, err2, err3, err4, err5)
}

// Agent implements broker.ReadTx.
func (t *Tx) Agent(id string) (a broker.Agent, err error) {
	into := t.own
	if t.own != nil {
		known, ok := t.own.agents[id]
		if !ok && !t.own.changed[id] {
			known, ok = t.batch.agents[id]
			into = t.batch
		}
		if err := t.fit([]any{id}); ok || err != nil {
			return copied(known), err
		}
	}
	err = t.one("SELECT "+agentColumns+" FROM agents WHERE id = $1", func(scan Scan) (err error) {
		a, err = scanAgent(scan)
		return err
	}, id)
	if err == nil && into != nil {
		into.agents[id] = copied(a)
	}
	return a, err
}

// copied is an agent that shares nothing with a.
func copied(a broker.Agent) broker.Agent {
	a.Tools, a.Resume, a.Cause, a.Sessions = slices.Clone(a.Tools), slices.Clone(a.Resume), slices.Clone(a.Cause), slices.Clone(a.Sessions)
	if a.CrossSend != nil {
		x := *a.CrossSend
		x.Allowlist, x.Denylist = slices.Clone(x.Allowlist), slices.Clone(x.Denylist)
		a.CrossSend = &x
	}
	return a
}

// altered notes that an agent is another one in the database than was known.
func (t *Tx) altered(id string) {
	if t.own != nil {
		t.own.changed[id] = true
		delete(t.own.agents, id)
	}
}

// Agents implements broker.ReadTx.
func (t *Tx) Agents(f broker.AgentFilter) (all []broker.Agent, err error) {
	var w where
	if f.ParentID != nil {
		w.and("parent_id = ?", *f.ParentID)
	}
	switch {
	case f.Present:
		w.and("archived = 0")
	case f.LastArchived > 0:
		w.and("archived = 1")
	}
	in(&w, "state", f.States)
	if f.Process {
		w.and("process <> ''")
	}
	if f.Resumable {
		w.and("state = 'exited' AND resume <> 'null'")
	}
	w.equal("session", f.Session)
	w.equal("token_hash", f.TokenHash)
	if due := micros(f.Due); due != nil {
		w.and("until <= ?", *due)
	}
	w.greater("id", f.After)
	if f.LastArchived > 0 {
		w.add(" ORDER BY ended_at DESC, id")
		w.limit(f.LastArchived)
	} else {
		w.add(" ORDER BY id")
		w.limit(f.Limit)
	}
	err = t.query("SELECT "+agentColumns+" FROM agents"+w.sql.String(), func(scan Scan) error {
		a, err := scanAgent(scan)
		all = append(all, a)
		return err
	}, w.args...)
	slices.SortFunc(all, func(a, b broker.Agent) int { return strings.Compare(a.ID, b.ID) })
	return all, err
}

// InsertAgent implements broker.Tx.
func (t *Tx) InsertAgent(a broker.Agent) error {
	args, err := agentArgs(a)
	if err != nil {
		return err
	}
	t.altered(a.ID)
	return t.insert("INSERT INTO agents ("+agentColumns+") VALUES ("+places(len(args))+")", args...)
}

// UpdateAgent implements broker.Tx.
func (t *Tx) UpdateAgent(a broker.Agent, from ...broker.State) error {
	taken, err := t.number(`SELECT COUNT(*) FROM agents WHERE id <> $1 AND
		(session = $2 OR token_hash = $3 AND token_hash <> '')`, a.ID, a.Session, a.TokenHash)
	if err != nil {
		return err
	}
	if taken > 0 {
		return broker.ErrExists
	}
	v, err := agentArgs(a)
	if err != nil {
		return err
	}
	t.altered(a.ID)
	var w where
	w.add(`UPDATE agents SET session = ?, cwd = ?, model = ?, tools = ?, task = ?, policy_hash = ?, route = ?,
		resume = ?, cross_send = ?, state = ?, turns = ?, interrupts = ?, process = ?, cause = ?, token_hash = ?`, v[2:17]...)
	w.add(`, ended_at = ?, exit_code = ?, exit_signal = ?, exit_output = ?, sessions = ?, launch = ?, archived = ?, until = ? WHERE id = ?`, append(v[18:], a.ID)...)
	in(&w, "state", from)
	n, err := t.exec(w.sql.String(), w.args...)
	if err != nil || n > 0 {
		return err
	}
	return t.missed("agents", a.ID)
}

// DeleteAgent implements broker.Tx.
func (t *Tx) DeleteAgent(id string) error {
	t.altered(id)
	n, err := t.exec("DELETE FROM agents WHERE id = $1", id)
	if err == nil && n == 0 {
		err = broker.ErrNotFound
	}
	return err
}

// missed says why no row of a table was changed.
func (t *Tx) missed(table, id string) error {
	n, err := t.number("SELECT COUNT(*) FROM "+table+" WHERE id = $1", id)
	if err != nil {
		return err
	}
	if n == 0 {
		return broker.ErrNotFound
	}
	return broker.ErrConflict
}
