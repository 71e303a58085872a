package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/pgstore"
	"github.com/pinfold-dev/pinfold/broker/storetest"
	"github.com/pinfold-dev/pinfold/internal/pgtest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Open { return opener(pgtest.Database(t)) })
}

// put inserts a message.
func put(s broker.Store, id, recipient string) error {
	return s.Update(context.Background(), func(tx broker.Tx) error {
		_, err := tx.InsertMessage(broker.Message{ID: id, RecipientID: recipient})
		tx.Notify(id)
		return err
	})
}

// admin runs SQL on a connection of its own.
func admin(t *testing.T, dsn, sql string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// TestConnectionsLost: connections that the server ends are made again. A
// listener hears, at the latest, that anything may have changed.
func TestConnectionsLost(t *testing.T) {
	dsn := pgtest.Database(t)
	one, two := opener(dsn)(t), opener(dsn)(t)
	defer func() { require.NoError(t, errors.Join(one.Close(), two.Close())) }()
	heard, err := one.Changes(t.Context())
	require.NoError(t, err)
	for i := range 3 {
		admin(t, dsn, "SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity WHERE application_name = 'pinfold'")
		id := fmt.Sprintf("m%d", i)
		require.NoError(t, put(two, id, "a"))
		for topic := range heard {
			if topic == "" || topic == id {
				break
			}
		}
		require.NoError(t, one.View(t.Context(), func(tx broker.ReadTx) error {
			_, err := tx.Message(id)
			return err
		}))
	}
}

// TestHangs: a broker that hangs within an update loses it, and others go on.
func TestHangs(t *testing.T) {
	dsn := pgtest.Database(t)
	other := opener(dsn)(t)
	hangs := opener(dsn + " idle_in_transaction_session_timeout=1500")(t)
	defer func() { require.NoError(t, errors.Join(hangs.Close(), other.Close())) }()
	err := hangs.Update(t.Context(), func(tx broker.Tx) error {
		_, err := tx.InsertMessage(broker.Message{ID: "lost"})
		require.NoError(t, err)
		return put(other, "kept", "a") // this waits for the lock
	})
	require.Error(t, err)
	require.NoError(t, put(hangs, "later", "a"))
	require.NoError(t, other.View(t.Context(), func(tx broker.ReadTx) error {
		all, err := tx.Messages(broker.MessageFilter{})
		require.NoError(t, err)
		require.Len(t, all, 2)
		return nil
	}))
}

// TestFailsAlone: updates share commits, but one that the server refuses takes
// no other with it. A recipient of this length fits no index.
func TestFailsAlone(t *testing.T) {
	s := opener(pgtest.Database(t))(t)
	defer s.Close()
	const all = 60
	errs := make(chan error, all)
	for i := range all {
		go func() {
			recipient := "a"
			if i%6 == 5 {
				recipient = incompressible(20_000)
			}
			if err := put(s, fmt.Sprintf("m%d", i), recipient); (err != nil) != (recipient != "a") {
				errs <- fmt.Errorf("%d: %w", i, err)
				return
			}
			errs <- nil
		}()
	}
	for range all {
		require.NoError(t, <-errs)
	}
	require.NoError(t, s.View(t.Context(), func(tx broker.ReadTx) error {
		n, err := tx.CountMessages(broker.MessageFilter{})
		require.Equal(t, all*5/6, n)
		return err
	}))
}

// incompressible is text of which PostgreSQL cannot make less.
func incompressible(n int) string {
	var b strings.Builder
	for x := uint32(1); b.Len() < n; {
		x = x*1664525 + 1013904223
		b.WriteByte(byte('0' + x>>24%64))
	}
	return b.String()
}

// TestRefused: a newer pinfold's schema is left as it is; so is a server that is
// not there, without a password in the message.
func TestRefused(t *testing.T) {
	dsn := pgtest.Database(t)
	require.NoError(t, opener(dsn)(t).Close())
	require.NoError(t, opener(dsn)(t).Close(), "its own")
	admin(t, dsn, "INSERT INTO schema_version (version) VALUES (99)")
	_, err := pgstore.Open(t.Context(), dsn)
	require.ErrorContains(t, err, "a newer pinfold made it")

	_, err = pgstore.Open(t.Context(), dsn+"_not_there")
	require.ErrorContains(t, err, "search_path names no schema that is there")

	_, err = pgstore.Open(t.Context(), "host="+t.TempDir()+" user=u password=hunter2 dbname=d")
	require.ErrorContains(t, err, "the broker's PostgreSQL")
	require.NotContains(t, err.Error(), "hunter2")
}

// TestOpenTogether: who opens a new database at the same time opens one.
func TestOpenTogether(t *testing.T) {
	dsn := pgtest.Database(t)
	errs := make(chan error)
	const openers = 8
	for range openers {
		go func() {
			store, err := pgstore.Open(context.Background(), dsn)
			if err == nil {
				err = store.Close()
			}
			errs <- err
		}()
	}
	for range openers {
		require.NoError(t, <-errs)
	}
}

// TestNothingLeft: a closed store has no goroutine.
func TestNothingLeft(t *testing.T) {
	dsn := pgtest.Database(t)
	before := goleak.IgnoreCurrent()
	s := opener(dsn)(t)
	_, err := s.Changes(context.Background())
	require.NoError(t, err)
	require.NoError(t, put(s, "m", "a"))
	require.NoError(t, s.Close())
	goleak.VerifyNone(t, before)
}
