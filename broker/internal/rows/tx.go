package rows

import (
	"context"
	"errors"

	"github.com/pinfold-dev/pinfold/broker"
)

// Tx is a broker.Tx over a connection, for one function and as long as that
// runs.
type Tx struct {
	ctx  context.Context // the caller's; asked between statements
	run  context.Context // of the statements: nobody's cancellation breaks a shared connection
	conn Conn

	backend Backend // of an update; nil of a view
	batch   *layer  // of an update: what those before it know
	own     *layer  // of an update: what it has changed
	through bool    // own is written at once

	save    bool // a savepoint comes before the first change
	changed bool // in the database
	topics  []string
	broken  error // of the database: the transaction cannot go on
}

var _ broker.Tx = (*Tx)(nil)

// View runs fn over a connection that has a consistent state.
func View(ctx context.Context, conn Conn, fn func(broker.ReadTx) error) error {
	t := &Tx{ctx: ctx, run: ctx, conn: conn}
	if err := fn(t); err != nil {
		return err
	}
	return t.broken // also where fn took no notice
}

var errReadOnly = errors.New("bug: a change within View")

// exec changes rows and says how many.
func (t *Tx) exec(sql string, args ...any) (n int64, err error) {
	if err := t.changeable(args); err != nil {
		return 0, err
	}
	if t.save && !t.changed {
		counts, err := t.many([]Stmt{{sql, args}})
		if err != nil {
			return 0, err
		}
		return counts[0], nil
	}
	t.changed = true
	if n, err = t.conn.Exec(t.run, sql, args...); err != nil {
		t.broken = err
	}
	return n, err
}

// changeable reports why a change is not to be made.
func (t *Tx) changeable(args []any) error {
	if t.backend == nil {
		return errReadOnly
	}
	return t.fit(args)
}

// savepoint is what an update goes back to, past those that share its
// transaction. The innermost of that name is meant.
const savepoint = "before_update"

// query calls each for every row.
func (t *Tx) query(sql string, each func(scan Scan) error, args ...any) error {
	if err := t.fit(args); err != nil {
		return err
	}
	err := t.conn.Query(t.run, sql, each, args...)
	if err != nil {
		t.broken = err
	}
	return err
}

// fit reports why a statement is not to be run.
func (t *Tx) fit(args []any) error {
	if t.broken != nil {
		return t.broken
	}
	if err := t.ctx.Err(); err != nil {
		return err
	}
	return storable(args)
}

// one reads one row.
func (t *Tx) one(sql string, each func(scan Scan) error, args ...any) error {
	found := false
	err := t.query(sql, func(scan Scan) error {
		found = true
		return each(scan)
	}, args...)
	if err == nil && !found {
		err = broker.ErrNotFound
	}
	return err
}

// number reads one number.
func (t *Tx) number(sql string, args ...any) (int, error) {
	var n int64
	err := t.one(sql, func(scan Scan) error { return scan(&n) }, args...)
	return int(n), err
}

// insert is ErrExists where the row met one that it must not.
func (t *Tx) insert(sql string, args ...any) error {
	n, err := t.exec(sql+" ON CONFLICT DO NOTHING", args...)
	if err == nil && n == 0 {
		err = broker.ErrExists
	}
	return err
}

// Notify implements broker.Tx.
func (t *Tx) Notify(topic string) { t.topics = append(t.topics, topic) }
