package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
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
	wrote  bool // it has changed something

	commits int64 // as the database counted them after this backend's last; -1 where that is not known
}

var _ rows.Backend = (*backend)(nil)

// place is the schema that the tables are in, by its number. It is what keeps
// two pinfolds in one database apart.
type place struct{ schema uint32 }

// lock begins a transaction, alone.
func (p place) lock() string {
	return fmt.Sprintf("BEGIN; SELECT pg_advisory_xact_lock(%d, %d)", lockClass, int32(p.schema))
}

// counted is lock with the number of commits that changed anything.
func (p place) counted() string {
	return p.lock() + "; SELECT value FROM counters WHERE name = 'commit'"
}

// channel is where changes are told.
func (p place) channel() string { return fmt.Sprintf("pinfold_%d", p.schema) }

// migrate brings the schema up to date, alone.
func (b *backend) migrate(ctx context.Context) error {
	if _, err := b.begin(ctx, b.lock()); err != nil {
		return err
	}
	b.commits = -1
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
func (b *backend) Begin(ctx context.Context) (alone bool, err error) {
	last, err := b.begin(ctx, b.counted())
	alone = err == nil && b.commits >= 0 && last == b.commits
	b.commits = last
	return alone, err
}

// begin begins a transaction by statements, and returns the number that the last of them
// has read; -1 if none.
func (b *backend) begin(ctx context.Context, statements string) (last int64, err error) {
	b.ctx, b.cancel = context.WithTimeout(ctx, transactionTimeout)
	b.wrote = false
	conn, last, err := begin(b.ctx, b.pool, statements)
	if err != nil {
		b.cancel()
		var e *pgconn.PgError
		if errors.As(err, &e) && e.Code == queryCanceled {
			err = fmt.Errorf("other brokers have been writing for %v: %w", statementTimeout, err)
		}
		return -1, err
	}
	b.conn = conn
	return last, nil
}

// Commit implements rows.Backend. It counts itself, so that others know that something has
// changed.
func (b *backend) Commit(_ context.Context, topics []string) error {
	var batch pgx.Batch
	if b.wrote {
		batch.Queue("UPDATE counters SET value = value + 1 WHERE name = 'commit'")
	}
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
	if b.wrote && b.commits >= 0 {
		b.commits++
	}
	b.over()
	return nil
}

// Rollback implements rows.Backend.
func (b *backend) Rollback(context.Context) {
	b.commits = -1
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
	b.wrote = true
	return session{b.conn}.Exec(b.ctx, sql, args...)
}

// Many implements rows.Backend: one round trip for all.
func (b *backend) Many(_ context.Context, all []rows.Stmt) ([]int64, error) {
	b.wrote = true
	var batch pgx.Batch
	for _, s := range all {
		batch.Queue(s.SQL, s.Args...)
	}
	results := b.conn.SendBatch(b.ctx, &batch)
	changed := make([]int64, len(all))
	var err error
	for i := range all {
		var tag pgconn.CommandTag
		if tag, err = results.Exec(); err != nil {
			break
		}
		changed[i] = tag.RowsAffected()
	}
	if err = errors.Join(err, results.Close()); err != nil {
		return nil, explain(err)
	}
	return changed, nil
}

// Query implements rows.Conn.
func (b *backend) Query(_ context.Context, sql string, each func(rows.Scan) error, args ...any) error {
	return session{b.conn}.Query(b.ctx, sql, each, args...)
}

// begin runs statements that begin a transaction, which are repeated where the
// connection was dead: nothing was done on it. last is the number that the last of them
// has read; -1 where it reads none.
func begin(ctx context.Context, pool *pgxpool.Pool, statements string) (conn *pgxpool.Conn, last int64, err error) {
	for i := 1; ; i++ {
		if conn, err = pool.Acquire(ctx); err != nil {
			return nil, -1, explain(err)
		}
		results, err := conn.Conn().PgConn().Exec(ctx, statements).ReadAll()
		if err == nil {
			return conn, number(results), nil
		}
		dead := conn.Conn().IsClosed()
		end(conn)
		if !dead || i == attempts || ctx.Err() != nil {
			return nil, -1, explain(err)
		}
		pool.Reset() // the others have likely died with it
	}
}

// number is the one number in the last result; -1 where there is none.
func number(results []*pgconn.Result) int64 {
	if n := len(results); n > 0 && len(results[n-1].Rows) == 1 && len(results[n-1].Rows[0]) == 1 {
		if v, err := strconv.ParseInt(string(results[n-1].Rows[0][0]), 10, 64); err == nil {
			return v
		}
	}
	return -1
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
