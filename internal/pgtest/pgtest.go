//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// one is this test binary's server, from the first test that wants one on.
var one struct {
	once   sync.Once
	server *server
	err    error
	names  atomic.Int64
}

// Main runs the tests of a package and ends the server, if one was started. It
// returns the exit code.
func Main(m *testing.M) int {
	code := m.Run()
	one.once.Do(func() {})
	if one.server == nil {
		return code
	}
	if err := one.server.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest: ending postgresql:", err)
		return max(code, 1)
	}
	return code
}

// Database returns how to connect to a schema that is empty, and goes with the
// test, whoever still uses it. All are in one database, because making one takes
// a hundred times as long; a program that keeps to its search_path sees no
// difference.
func Database(tb testing.TB) string {
	tb.Helper()
	s := running(tb)
	name := fmt.Sprintf("test%d", one.names.Add(1))
	admin(tb, s, "CREATE SCHEMA "+name)
	tb.Cleanup(func() { admin(tb, s, "DROP SCHEMA "+name+" CASCADE") })
	return s.dsn() + " search_path=" + name
}

// Serve starts a server beneath a directory for a program that is no test, and
// returns how to connect to its only database, and how to end it.
func Serve(dir string) (dsn string, stop func() error, err error) {
	// In a directory that whoever owns the server may empty.
	if dir, err = os.MkdirTemp(dir, "server-"); err != nil {
		return "", nil, err
	}
	if os.Getuid() == 0 {
		cred, err := servant()
		if err == nil {
			err = os.Chown(dir, int(cred.Uid), int(cred.Gid))
		}
		if err != nil {
			return "", nil, errors.Join(err, os.Remove(dir))
		}
	}
	s, err := start(dir)
	if err != nil {
		return "", nil, errors.Join(err, os.Remove(dir))
	}
	return s.dsn(), func() error { return errors.Join(s.stop(), os.Remove(dir)) }, nil
}

// Crash kills the server as a power cut would and starts it again. Every test
// of this binary shares it, so a test that does this is not parallel.
func Crash(tb testing.TB) {
	tb.Helper()
	require.NoError(tb, running(tb).crash())
}

func running(tb testing.TB) *server {
	tb.Helper()
	one.once.Do(func() { one.server, one.err = start("") })
	require.NoError(tb, one.err)
	require.NotNil(tb, one.server, "the tests are over")
	return one.server
}

func admin(tb testing.TB, s *server, sql string) {
	tb.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.dsn())
	require.NoError(tb, err)
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, sql)
	require.NoError(tb, err)
}
