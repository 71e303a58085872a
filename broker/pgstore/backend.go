package pgstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/internal/rows"
)

const (
	// lockClass is the first half of the advisory lock of whoever updates,
	// "pinf" as a number; the other is the schema's.
	lockClass = 0x70696e66
	// transactionTimeout is the longest that a batch of updates takes before
	// its connection is given up: the server's own timeouts come first.
	transactionTimeout = 2 * statementTimeout
	// rollbackTimeout is how long a connection may take to undo; then it is
	// closed, which undoes too.
	rollbackTimeout = 5 * time.Second
	// attempts is how often a transaction is begun on connections that turn out
	// to be dead, such as after the server was started again.
	attempts = 3
	// diskFull is SQLSTATE disk_full, queryCanceled what statementTimeout gives.
	diskFull, queryCanceled = "53100", "57014"
)

// backend writes. Only the queue uses it.
type backend struct {
	pool *pgxpool.Pool
	place
	name string // see listener

	// Of the transaction, nil between two.
	conn   *pgxpool.Conn
	cancel context.CancelFunc
	ctx    context.Context
}

var _ rows.Backend = (*backend)(nil)

// place is the schema that the tables are in, by its number. It is what keeps
// two pinfolds in one database apart.
type place struct{ schema uint32 }

// lock begins a transaction, alone.
func (p place) lock() string {
	return fmt.Sprintf("BEGIN; SELECT pg_advisory_xact_lock(%d, %d)", lockClass, int32(p.schema))
}

// channel is where changes are told.
func (p place) channel() string { return fmt.Sprintf("pinfold_%d", p.schema) }

// migrate brings the schema up to date, alone.
func (b *backend) migrate(ctx context.Context) error {
	if err := b.Begin(ctx); err != nil {
		return err
	}
	err := rows.Migrate(b.ctx, b, rows.Dialect{Text: `TEXT COLLATE "C"`, Bytes: "BYTEA"})
	if err == nil {
		err = b.Commit(ctx, nil)
	}
	if err != nil {
		b.Rollback(ctx)
	}
	return err
}

// Begin implements rows.Backend. The lock ends with the transaction, however
// that ends. Its statements see what was committed before the lock was got,
// because each takes a snapshot of its own (READ COMMITTED).
func (b *backend) Begin(ctx context.Context) error {
	b.ctx, b.cancel = context.WithTimeout(ctx, transactionTimeout)
	conn, err := begin(b.ctx, b.pool, b.lock())
	if err != nil {
		b.cancel()
		var e *pgconn.PgError
		if errors.As(err, &e) && e.Code == queryCanceled {
			err = fmt.Errorf("other brokers have been writing for %v: %w", statementTimeout, err)
		}
		return err
	}
	b.conn = conn
	return nil
}

// Commit implements rows.Backend.
func (b *backend) Commit(_ context.Context, topics []string) error {
	var batch pgx.Batch
	if len(topics) > 0 {
		batch.Queue("SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload", b.channel(), payloads(b.name, topics))
	}
	batch.Queue("COMMIT")
	results := b.conn.SendBatch(b.ctx, &batch)
	var tag pgconn.CommandTag
	var err error
	for range batch.Len() {
		if tag, err = results.Exec(); err != nil {
			break
		}
	}
	if err = errors.Join(err, results.Close()); err != nil {
		return explain(err)
	}
	if tag.String() != "COMMIT" {
		return errNotCommitted
	}
	b.over()
	return nil
}

// Rollback implements rows.Backend.
func (b *backend) Rollback(context.Context) {
	if b.conn != nil {
		b.over()
	}
}

// over ends the transaction, if it is not, and gives the connection back.
func (b *backend) over() {
	end(b.conn)
	b.cancel()
	b.conn = nil
}

// Exec implements rows.Conn.
func (b *backend) Exec(_ context.Context, sql string, args ...any) (int64, error) {
	return session{b.conn}.Exec(b.ctx, sql, args...)
}

// Query implements rows.Conn.
func (b *backend) Query(_ context.Context, sql string, each func(rows.Scan) error, args ...any) error {
	return session{b.conn}.Query(b.ctx, sql, each, args...)
}

// begin runs a statement that begins a transaction, which is repeated where the
// connection was dead: nothing was done on it.
func begin(ctx context.Context, pool *pgxpool.Pool, statement string) (*pgxpool.Conn, error) {
	for i := 1; ; i++ {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return nil, explain(err)
		}
		if _, err = conn.Exec(ctx, statement); err == nil {
			return conn, nil
		}
		dead := conn.Conn().IsClosed()
		end(conn)
		if !dead || i == attempts || ctx.Err() != nil {
			return nil, explain(err)
		}
		pool.Reset() // the others have likely died with it
	}
}

// end undoes what is not committed and gives the connection back to the pool,
// which closes it where that failed.
func end(conn *pgxpool.Conn) {
	defer conn.Release()
	if conn.Conn().IsClosed() || conn.Conn().PgConn().TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
	defer cancel()
	_, _ = conn.Exec(ctx, "ROLLBACK")
}

// session is a connection within a transaction.
type session struct{ conn *pgxpool.Conn }

func (s session) Exec(ctx context.Context, sql string, args ...any) (int64, error) {
	tag, err := s.conn.Exec(ctx, sql, args...)
	return tag.RowsAffected(), explain(err)
}

func (s session) Query(ctx context.Context, sql string, each func(rows.Scan) error, args ...any) error {
	found, err := s.conn.Query(ctx, sql, args...)
	if err != nil {
		return explain(err)
	}
	defer found.Close()
	for found.Next() {
		if err := each(found.Scan); err != nil {
			return err
		}
	}
	return explain(found.Err())
}

// explain says in the broker's words what the server says in codes.
func explain(err error) error {
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == diskFull {
		return fmt.Errorf("%w: %w", broker.ErrFull, err)
	}
	return err
}
