package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/internal/rows"
)

const (
	// busyTimeout is how long an update waits for another process to end its
	// own. Those take milliseconds; only a stopped process holds on longer.
	busyTimeout = 10 * time.Second
	// pollInterval is how soon changes by other processes are noticed where they cannot
	// be heard of, and lookInterval where they can, in case that one was killed before
	// it told.
	pollInterval = 50 * time.Millisecond
	lookInterval = time.Second
	// maxReaders is how many views run at the same time; more wait.
	maxReaders = 8
)

// store is a broker.Store in a SQLite file. Its methods are safe for use by
// many goroutines.
type store struct {
	writer  *sql.DB // of one connection, the backend's
	readers *sql.DB
	backend *backend
	queue   *rows.Queue
	hub     rows.Hub
	notice  *notice // nil where there is none

	mu     sync.Mutex // guards closed, and views while it is false
	closed bool
	views  sync.WaitGroup // those that run

	close sync.Once
	err   error // of Close
}

var _ broker.Store = (*store)(nil)

// Open opens the database, an absolute or relative path, and makes it, and its
// directory, where there is none.
func Open(ctx context.Context, path string) (broker.Store, error) {
	s, err := open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("the broker's database %q: %w", path, err)
	}
	return s, nil
}

func open(ctx context.Context, path string) (*store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	// SQLite gives its other files the mode of this one.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	s := &store{}
	if s.writer, err = sql.Open("sqlite", source(path, "journal_mode(WAL)", "synchronous(FULL)", "journal_size_limit(16777216)")); err != nil {
		return nil, err
	}
	s.writer.SetMaxOpenConns(1)
	if s.readers, err = sql.Open("sqlite", source(path, "query_only(1)")); err != nil {
		return nil, errors.Join(err, s.writer.Close())
	}
	s.readers.SetMaxOpenConns(maxReaders)
	s.readers.SetMaxIdleConns(maxReaders)
	s.backend, err = newBackend(ctx, s.writer)
	if err != nil {
		return nil, errors.Join(err, s.readers.Close(), s.writer.Close())
	}
	s.backend.changed = func() { s.hub.Tell(rows.Any) }
	look := rows.Look{Every: pollInterval, Do: s.backend.look}
	if !rows.OnlyLooks(ctx) {
		s.notice = newNotice(path + "-changed")
	}
	if s.notice != nil {
		s.backend.tell = s.notice.tell
		look.Every, look.Now = lookInterval, s.notice.heard
	}
	s.queue = rows.NewQueue(s.backend, &s.hub, look)
	return s, nil
}

// source is how the driver is told of a file.
func source(path string, pragmas ...string) string {
	q := url.Values{"_pragma": append([]string{
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "temp_store(MEMORY)",
	}, pragmas...)}
	// A drive of Windows is no host.
	path = "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
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
	if !s.enter() {
		return rows.ErrClosed
	}
	defer s.views.Done()
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return explain(err)
	}
	defer func() { _ = conn.Close() }() // it goes back to the pool
	// The driver interrupts a statement whose context ends by means of a
	// goroutine for each; statements here are short, and rows looks at ctx
	// between them.
	tx, err := conn.BeginTx(context.WithoutCancel(ctx), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return explain(err)
	}
	defer func() { _ = tx.Rollback() }() // there is nothing to keep
	return rows.View(ctx, reader{tx}, fn)
}

// enter counts a view that begins, unless the store is closed.
func (s *store) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.views.Add(1)
	return true
}

// Changes implements broker.Store.
func (s *store) Changes(ctx context.Context) (<-chan string, error) {
	return s.hub.Listen(ctx), nil
}

// Close implements broker.Store. Afterwards everything is fs.ErrClosed under
// errors.Is.
func (s *store) Close() error {
	s.close.Do(func() {
		s.queue.Close()
		s.hub.Close()
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		s.views.Wait()
		if s.notice != nil {
			s.err = s.notice.close()
		}
		s.err = errors.Join(s.err, s.readers.Close(), s.backend.close(), s.writer.Close())
	})
	return s.err
}
