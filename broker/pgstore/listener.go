package pgstore

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pinfold-dev/pinfold/broker/internal/rows"
)

const (
	// maxTopics is how many topics a commit tells one by one. With more, it
	// tells that anything may have changed.
	maxTopics = 512
	// maxPayload is PostgreSQL's bound for what a notification carries, in
	// bytes. A longer topic is told as any.
	maxPayload = 7999
	// quiet is after how long without a word the connection is tried, within
	// tryTimeout.
	quiet, tryTimeout = 15 * time.Second, 5 * time.Second
	// A lost connection is made again after firstDelay, then after twice that,
	// at most after maxDelay.
	firstDelay, maxDelay = 20 * time.Millisecond, time.Second
)

// listener hears what other processes committed. A payload is the name of the
// store that tells it, a space, and the topic: a store skips its own, which the
// queue has told already.
type listener struct {
	config *pgx.ConnConfig
	place
	hub    *rows.Hub
	name   string
	cancel context.CancelFunc
	over   sync.WaitGroup
}

// newName is of one Store, unlike all others.
func newName() string { return rand.Text() }

// payloads tell each topic once.
func payloads(name string, topics []string) []string {
	topics = slices.Clone(topics)
	slices.Sort(topics)
	topics = slices.Compact(topics)
	if len(topics) > maxTopics {
		return []string{name + " " + rows.Any}
	}
	for i, topic := range topics {
		if topics[i] = name + " " + topic; len(topics[i]) > maxPayload {
			topics[i] = name + " " + rows.Any
		}
	}
	return topics
}

// listen returns once it listens.
func listen(ctx context.Context, config *pgx.ConnConfig, p place, hub *rows.Hub, name string) (*listener, error) {
	l := &listener{config: config, place: p, hub: hub, name: name}
	conn, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	l.over.Go(func() { l.run(ctx, conn) })
	return l, nil
}

func (l *listener) close() {
	l.cancel()
	l.over.Wait()
}

func (l *listener) connect(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, l.config.Copy())
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "LISTEN "+l.channel()); err != nil {
		hangUp(conn)
		return nil, err
	}
	return conn, nil
}

// run hears until ctx is done, over as many connections as it takes.
func (l *listener) run(ctx context.Context, conn *pgx.Conn) {
	for {
		l.hear(ctx, conn)
		hangUp(conn)
		delay := firstDelay
		for {
			if ctx.Err() != nil {
				return
			}
			var err error
			if conn, err = l.connect(ctx); err == nil {
				break
			}
			select {
			case <-time.After(delay):
			case <-ctx.Done():
			}
			delay = min(2*delay, maxDelay)
		}
		l.hub.Tell(rows.Any) // for all that was missed
	}
}

// hear tells the hub what others tell, until the connection fails.
func (l *listener) hear(ctx context.Context, conn *pgx.Conn) {
	for ctx.Err() == nil {
		wait, cancel := context.WithTimeout(ctx, quiet)
		n, err := conn.WaitForNotification(wait)
		late := wait.Err() != nil && !conn.IsClosed()
		cancel()
		switch {
		case err == nil:
			if from, topic, _ := strings.Cut(n.Payload, " "); from != l.name {
				l.hub.Tell(topic)
			}
		case !late || !l.alive(ctx, conn):
			return
		}
	}
}

func (l *listener) alive(ctx context.Context, conn *pgx.Conn) bool {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	return conn.Ping(ctx) == nil
}

// hangUp closes a connection, politely if that is quick.
func hangUp(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), tryTimeout)
	defer cancel()
	_ = conn.Close(ctx)
}
