package pgstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/internal/rows"
)

const (
	// idleTimeout is how long a transaction may wait for its broker's next
	// statement. They follow each other at once; only a stopped process, or one
	// that is cut off, lets the server wait.
	idleTimeout = 10 * time.Second
	// statementTimeout is how long a statement may take, and how long an update
	// waits for those of other brokers.
	statementTimeout = 30 * time.Second
	// defaultConns is how many connections are used where the DSN's
	// pool_max_conns does not say: one writes, the others read.
	defaultConns = 8
)

// store is a broker.Store in PostgreSQL. Its methods are safe for use by many
// goroutines.
type store struct {
	pool  *pgxpool.Pool
	queue *rows.Queue
	hub   rows.Hub
	hears *listener

	close  sync.Once
	closed atomic.Bool
}

var _ broker.Store = (*store)(nil)

// Open connects to the database that dsn names, a URL or key=value words as
// libpq knows them, and brings its schema up to date.
func Open(ctx context.Context, dsn string) (broker.Store, error) {
	s, err := open(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("the broker's PostgreSQL: %w", err)
	}
	return s, nil
}

func open(ctx context.Context, dsn string) (*store, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.MaxConns = max(config.MaxConns, 2) // one writes
	if plain, err := pgx.ParseConfig(dsn); err == nil {
		if _, said := plain.RuntimeParams["pool_max_conns"]; !said {
			config.MaxConns = max(config.MaxConns, defaultConns)
		}
	}
	params := config.ConnConfig.RuntimeParams
	for name, value := range map[string]string{
		"application_name":                    "pinfold",
		"idle_in_transaction_session_timeout": fmt.Sprint(idleTimeout.Milliseconds()),
		"statement_timeout":                   fmt.Sprint(statementTimeout.Milliseconds()),
	} {
		if _, said := params[name]; !said {
			params[name] = value
		}
	}
	config.AfterConnect = prepare
	s := &store{}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		s.pool.Close()
		return nil, err
	}
	return s, nil
}

// start makes the schema, and listens before anybody writes.
func (s *store) start(ctx context.Context) error {
	var schema *uint32
	if err := s.pool.QueryRow(ctx, "SELECT current_schema()::regnamespace::oid").Scan(&schema); err != nil {
		return err
	}
	if schema == nil {
		return errors.New("search_path names no schema that is there")
	}
	b := &backend{pool: s.pool, place: place{*schema}, name: newName()}
	if err := b.migrate(ctx); err != nil {
		return err
	}
	var err error
	if s.hears, err = listen(ctx, s.pool.Config().ConnConfig, b.place, &s.hub, b.name); err != nil {
		return err
	}
	s.queue = rows.NewQueue(b, &s.hub, rows.Look{})
	return nil
}

// prepare is done once for each connection.
func prepare(ctx context.Context, conn *pgx.Conn) error {
	var encoding string
	err := conn.QueryRow(ctx, `SELECT current_setting('server_encoding'), CASE current_setting('synchronous_commit')
		WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END`).Scan(&encoding, nil)
	if err != nil {
		return err
	}
	if encoding != "UTF8" {
		return fmt.Errorf("the database's encoding is %s, it must be UTF8", encoding)
	}
	return nil
}

// Update implements broker.Store.
func (s *store) Update(ctx context.Context, fn func(broker.Tx) error) error {
	return s.queue.Update(ctx, fn)
}

// View implements broker.Store.
func (s *store) View(ctx context.Context, fn func(broker.ReadTx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	conn, _, err := begin(ctx, s.pool, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	if err != nil {
		if s.closed.Load() {
			return rows.ErrClosed
		}
		return err
	}
	defer end(conn)
	return rows.View(ctx, session{conn}, fn)
}

// Changes implements broker.Store.
func (s *store) Changes(ctx context.Context) (<-chan string, error) {
	return s.hub.Listen(ctx), nil
}

// Close implements broker.Store. Afterwards everything is fs.ErrClosed under
// errors.Is.
func (s *store) Close() error {
	s.close.Do(func() {
		s.closed.Store(true)
		s.queue.Close()
		s.hears.close()
		s.hub.Close()
		s.pool.Close()
	})
	return nil
}

var errNotCommitted = errors.New("the server rolled the transaction back")
