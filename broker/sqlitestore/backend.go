package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/internal/rows"
)

// backend is the connection that writes. Only the queue uses it.
type backend struct {
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
	version  int64 // data_version when it was last looked at

	changed func() // is called when others have changed something; nil before there is a hub
	tell    func() // tells them that this one has; nil where nobody can be told
}

var _ rows.Backend = (*backend)(nil)

// newBackend connects and brings the schema up to date.
func newBackend(ctx context.Context, db *sql.DB) (*backend, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, explain(err)
	}
	b := &backend{conn: conn, prepared: map[string]*sql.Stmt{}}
	if _, err := b.Begin(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	// Statements of a schema that does not exist yet are not worth keeping.
	err = rows.Migrate(ctx, plain{conn}, rows.Dialect{Text: "TEXT", Bytes: "BLOB"})
	if err == nil {
		err = b.Commit(ctx, nil)
	}
	if err != nil {
		b.Rollback(ctx)
		return nil, errors.Join(err, conn.Close())
	}
	b.others()
	return b, nil
}

// close gives the connection up.
func (b *backend) close() error {
	var errs []error
	for _, stmt := range b.prepared {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, b.conn.Close())...)
}

// Begin implements rows.Backend.
func (b *backend) Begin(ctx context.Context) (alone bool, err error) {
	if _, err := b.Exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return false, err
	}
	return !b.look(), nil
}

// look tells this process where others have changed something since the last look.
func (b *backend) look() (others bool) {
	if others = b.others(); others && b.changed != nil {
		b.changed()
	}
	return others
}

// Commit implements rows.Backend. Others are told that something may have changed, and look.
func (b *backend) Commit(ctx context.Context, _ []string) error {
	_, err := b.Exec(ctx, "COMMIT")
	if err == nil && b.tell != nil {
		b.tell()
	}
	return err
}

// Many implements rows.Backend.
func (b *backend) Many(ctx context.Context, all []rows.Stmt) ([]int64, error) {
	changed := make([]int64, len(all))
	for i, s := range all {
		n, err := b.Exec(ctx, s.SQL, s.Args...)
		if err != nil {
			return nil, err
		}
		changed[i] = n
	}
	return changed, nil
}

// Rollback implements rows.Backend. SQLite may have done it by itself, when a
// full disk ended a statement; then it says that there is nothing to undo.
func (b *backend) Rollback(ctx context.Context) {
	_, _ = b.Exec(ctx, "ROLLBACK")
}

// Exec implements rows.Conn.
func (b *backend) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	stmt, err := b.prepare(ctx, text)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, explain(err)
	}
	return result.RowsAffected()
}

// Query implements rows.Conn.
func (b *backend) Query(ctx context.Context, text string, each func(rows.Scan) error, args ...any) error {
	stmt, err := b.prepare(ctx, text)
	if err != nil {
		return err
	}
	found, err := stmt.QueryContext(ctx, args...)
	return scan(found, err, each)
}

// prepare keeps what was prepared: the statements of rows are few.
func (b *backend) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if stmt := b.prepared[text]; stmt != nil {
		return stmt, nil
	}
	stmt, err := b.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, explain(err)
	}
	b.prepared[text] = stmt
	return stmt, nil
}

// others reports whether another connection has committed since the last call.
// Where that cannot be said, it has.
func (b *backend) others() bool {
	before := b.version
	err := b.Query(context.Background(), "PRAGMA data_version", func(scan rows.Scan) error { return scan(&b.version) })
	return err != nil || b.version != before
}

// plain is a connection whose statements are not kept.
type plain struct{ conn *sql.Conn }

func (p plain) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	result, err := p.conn.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, explain(err)
	}
	return result.RowsAffected()
}

func (p plain) Query(ctx context.Context, text string, each func(rows.Scan) error, args ...any) error {
	found, err := p.conn.QueryContext(ctx, text, args...)
	return scan(found, err, each)
}

// reader is a view's transaction.
type reader struct{ tx *sql.Tx }

func (reader) Exec(context.Context, string, ...any) (int64, error) {
	return 0, errors.New("bug: a change within View")
}

func (r reader) Query(ctx context.Context, text string, each func(rows.Scan) error, args ...any) error {
	found, err := r.tx.QueryContext(context.WithoutCancel(ctx), text, args...)
	return scan(found, err, each)
}

func scan(found *sql.Rows, err error, each func(rows.Scan) error) error {
	if err != nil {
		return explain(err)
	}
	defer func() { _ = found.Close() }() // its error is that of Err
	for found.Next() {
		if err := each(found.Scan); err != nil {
			return err
		}
	}
	return explain(found.Err())
}

// explain says in the broker's words what SQLite says in numbers.
func explain(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Code()&0xff == sqlite3.SQLITE_FULL, e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE:
		return fmt.Errorf("%w: %w", broker.ErrFull, err)
	case e.Code()&0xff == sqlite3.SQLITE_BUSY:
		return fmt.Errorf("another process has been writing for %v, is it stopped? %w", busyTimeout, err)
	}
	return err
}
