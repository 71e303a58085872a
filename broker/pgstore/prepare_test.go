package pgstore

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/internal/pgtest"
)

// TestPrepare: where acknowledged updates could be lost, they no longer can; a
// database that cannot hold all text is refused.
func TestPrepare(t *testing.T) {
	dsn := pgtest.Database(t)
	connect := func(dsn string) *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close(context.Background()) })
		return conn
	}
	for before, after := range map[string]string{"off": "on", "on": "on", "local": "local"} {
		conn := connect(dsn + " synchronous_commit=" + before)
		show := func() (value string) {
			require.NoError(t, conn.QueryRow(t.Context(), "SHOW synchronous_commit").Scan(&value))
			return value
		}
		require.Equal(t, before, show())
		require.NoError(t, prepare(t.Context(), conn))
		require.Equal(t, after, show())
	}

	maker := connect(dsn)
	_, err := maker.Exec(t.Context(), "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
	require.NoError(t, err)
	defer func() {
		_, err := maker.Exec(t.Context(), "DROP DATABASE latin WITH (FORCE)")
		require.NoError(t, err)
	}()
	config, err := pgx.ParseConfig(dsn)
	require.NoError(t, err)
	config.Database = "latin"
	conn, err := pgx.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	require.EqualError(t, prepare(t.Context(), conn), "the database's encoding is LATIN1, it must be UTF8")
}
