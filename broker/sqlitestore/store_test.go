package sqlitestore_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/internal/rows"
	"github.com/pinfold-dev/pinfold/broker/sqlitestore"
	"github.com/pinfold-dev/pinfold/broker/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Open {
		path := filepath.Join(t.TempDir(), "state", "broker.db")
		return func(t *testing.T) broker.Store { return open(t, path) }
	})
}

// TestStoreThatLooks: the same where no change can be heard of, and all have to look.
func TestStoreThatLooks(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Open {
		path := filepath.Join(t.TempDir(), "state", "broker.db")
		return func(t *testing.T) broker.Store {
			store, err := sqlitestore.Open(rows.Looking(t.Context()), path)
			require.NoError(t, err)
			return store
		}
	})
}

func open(t testing.TB, path string) broker.Store {
	t.Helper()
	store, err := sqlitestore.Open(context.Background(), path)
	require.NoError(t, err)
	return store
}

// TestModes: nobody else reads what agents asked for.
func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a ?&#%20 b", "state")
	store := open(t, filepath.Join(dir, "broker.db"))
	defer store.Close()
	require.NoError(t, store.Update(t.Context(), func(tx broker.Tx) error { return tx.PutPolicy("hash", nil) }))
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		info, err := f.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), f.Name())
	}
}

// TestRefused: what is no database, or a newer pinfold's, is left as it is.
func TestRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	text := []byte("these are somebody's notes, of more than a hundred bytes, so that there is a whole header to be read from it\n")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	_, err := sqlitestore.Open(t.Context(), path)
	require.ErrorContains(t, err, path)
	require.ErrorContains(t, err, "not a database")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, text, after)

	path = filepath.Join(t.TempDir(), "broker.db")
	require.NoError(t, open(t, path).Close())
	require.NoError(t, open(t, path).Close(), "its own")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec("INSERT INTO schema_version (version) VALUES (99)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = sqlitestore.Open(t.Context(), path)
	require.ErrorContains(t, err, "schema 99")
	require.ErrorContains(t, err, "a newer pinfold made it")
}

// TestOpenTogether: who opens a new database at the same time opens one.
func TestOpenTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	errs := make(chan error)
	const openers = 8
	for range openers {
		go func() {
			store, err := sqlitestore.Open(context.Background(), path)
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

// TestNothingLeft: a closed store has no goroutine and no open file.
func TestNothingLeft(t *testing.T) {
	before := goleak.IgnoreCurrent()
	path := filepath.Join(t.TempDir(), "broker.db")
	store := open(t, path)
	_, err := store.Changes(context.Background())
	require.NoError(t, err)
	require.NoError(t, store.Update(t.Context(), func(tx broker.Tx) error { return tx.PutPolicy("hash", nil) }))
	require.NoError(t, store.View(t.Context(), func(tx broker.ReadTx) error { _, err := tx.Head(); return err }))
	require.NoError(t, store.Close())
	goleak.VerifyNone(t, before)
	fds, err := filepath.Glob("/proc/self/fd/*")
	require.NoError(t, err)
	for _, fd := range fds {
		target, _ := os.Readlink(fd)
		require.NotContains(t, target, path)
	}
}
