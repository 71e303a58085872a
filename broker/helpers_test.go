package broker_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/internal/rows"
	"github.com/pinfold-dev/pinfold/broker/pgstore"
	"github.com/pinfold-dev/pinfold/broker/sqlitestore"
	"github.com/pinfold-dev/pinfold/internal/pgtest"
	"github.com/pinfold-dev/pinfold/permission"
)

// The documents of the tests: a manager who may write anything, and a worker
// who writes docs and asks for src.
const (
	managerDoc = "version: 1\nextends: trusted\n"
	workerDoc  = "version: 1\nextends: sandboxed\nfs: {write: [docs], ask_write: [src, lib]}\n"
)

// operator is who runs the broker.
var operator = broker.OperatorIdentity()

func TestMain(m *testing.M) {
	if os.Getenv(holderEnv) != "" {
		hold()
	}
	os.Exit(pgtest.Main(m))
}

// world is a broker on a store of its own.
type world struct {
	*testing.T
	open   func() (broker.Store, error)
	tamper func(statements string) // changes the database behind the broker's back
	store  broker.Store
	*broker.Broker
	rates broker.Rates
	keep  int64
}

// newWorld is on SQLite, or with PINFOLD_STORE=postgres on PostgreSQL.
func newWorld(t *testing.T) *world {
	if os.Getenv("PINFOLD_STORE") == "postgres" {
		return onPostgres(t)
	}
	return onSQLite(t)
}

func onSQLite(t *testing.T) *world {
	t.Helper()
	path := filepath.Join(t.TempDir(), "broker.db")
	w := &world{T: t}
	w.open = func() (broker.Store, error) { return sqlitestore.Open(rows.Looking(context.Background()), path) }
	w.tamper = func(statements string) {
		db, err := sql.Open("sqlite", "file:"+path)
		require.NoError(t, err)
		defer db.Close()
		_, err = db.ExecContext(t.Context(), statements)
		require.NoError(t, err)
	}
	return w.begin()
}

func onPostgres(t *testing.T) *world {
	t.Helper()
	dsn := pgtest.Database(t)
	w := &world{T: t}
	w.open = func() (broker.Store, error) { return pgstore.Open(context.Background(), dsn) }
	w.tamper = func(statements string) {
		conn, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)
		defer conn.Close(context.Background())
		_, err = conn.Exec(t.Context(), statements)
		require.NoError(t, err)
	}
	return w.begin()
}

func (w *world) begin() *world {
	w.rates = broker.Rates{Burst: 1000, PairPerMinute: 1000, SenderPerMinute: 1000}
	w.start()
	w.Cleanup(w.halt)
	return w
}

func (w *world) start() {
	w.Helper()
	var err error
	w.store, err = w.open()
	require.NoError(w, err)
	w.Broker, err = broker.New(context.Background(), broker.Options{Store: w.store, Rates: w.rates, Keep: w.keep})
	require.NoError(w, err)
}

func (w *world) halt() {
	w.Close()
	require.NoError(w, w.store.Close())
}

// restart is what a crash of the broker's process and another start are to
// those who are left.
func (w *world) restart() {
	w.halt()
	w.start()
}

// second is another broker, as another process would be: on the same database
// with connections of its own.
func (w *world) second() *broker.Broker {
	store, err := w.open()
	require.NoError(w, err)
	b, err := broker.New(w.Context(), broker.Options{Store: store, Rates: w.rates})
	require.NoError(w, err)
	w.Cleanup(func() {
		b.Close()
		require.NoError(w, store.Close())
	})
	return b
}

func policy(t testing.TB, doc string) *permission.Policy {
	t.Helper()
	src, err := permission.Decode("p.yaml", []byte(doc))
	require.NoError(t, err)
	p, err := permission.Compile(src, permission.Options{Root: "/project"})
	require.NoError(t, err)
	return p
}

// hire registers an agent under who and returns its identity.
func (w *world) hire(who broker.Identity, id, doc string) broker.Identity {
	w.Helper()
	_, _, err := w.Hire(w.Context(), who, broker.HireSpec{ID: id, Policy: policy(w, doc), OnExcess: permission.Clamp, Cwd: "/project"})
	require.NoError(w, err)
	return broker.AgentIdentity(id)
}

// pair is a manager under the operator, and a worker under the manager.
func (w *world) pair() (manager, worker broker.Identity) {
	w.Helper()
	manager = w.hire(operator, "boss", managerDoc)
	return manager, w.hire(manager, "worker", workerDoc)
}

// write is a call that the worker has to ask for.
func write(place string) access.Request {
	return access.Request{Action: access.FSWrite, Resource: place, Tool: "write_file", MayBlock: true, Input: []byte(`{"path": "` + place + `"}`)}
}

// ask leaves a pending request.
func (w *world) ask(who broker.Identity, place string) broker.Request {
	w.Helper()
	r, err := w.Ask(w.Context(), who, write(place))
	require.NoError(w, err)
	require.Equal(w, broker.Pending, r.Status)
	return r
}

// patience is how long the tests wait for what must come: on a machine however
// busy.
const patience = 2 * time.Minute

// result is what a call in another goroutine returned.
type result[T any] struct {
	value T
	err   error
}

// background runs fn and returns where its result will be.
func background[T any](fn func() (T, error)) <-chan result[T] {
	ch := make(chan result[T], 1)
	go func() {
		v, err := fn()
		ch <- result[T]{v, err}
	}()
	return ch
}

// soon takes what will come; it fails where it does not.
func soon[T any](t testing.TB, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}

// eventually waits until look says so.
func (w *world) eventually(look func() bool) {
	w.Helper()
	require.Eventually(w, look, patience, time.Millisecond)
}

// refused requires a refusal with a code, and returns its text.
func refused(t testing.TB, code access.Code, err error) string {
	t.Helper()
	var e *broker.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, code, e.Code, e.Message)
	return e.Message
}
