//go:build unix

package pgtest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// hold makes this binary start a server, say where, and wait to be killed.
const hold = "PGTEST_HOLD"

func TestMain(m *testing.M) {
	if os.Getenv(hold) != "" {
		s, err := start("")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(s.dir)
		select {}
	}
	os.Exit(Main(m))
}

// TestDatabase: each has its own, empty, durable, and gone with its test.
func TestDatabase(t *testing.T) {
	ctx := context.Background()
	var dsn string
	t.Run("one", func(t *testing.T) {
		dsn = Database(t)
		require.NotEqual(t, dsn, Database(t))
		conn, err := pgx.Connect(ctx, dsn)
		require.NoError(t, err)
		defer conn.Close(ctx)
		var fsync, tcp string
		require.NoError(t, conn.QueryRow(ctx, "SHOW fsync").Scan(&fsync))
		require.NoError(t, conn.QueryRow(ctx, "SHOW listen_addresses").Scan(&tcp))
		require.Equal(t, "on", fsync)
		require.Empty(t, tcp)
		_, err = conn.Exec(ctx, "CREATE TABLE kept AS SELECT 1 AS n")
		require.NoError(t, err)

		Crash(t)
		require.Error(t, conn.Ping(ctx), "the server went on")
		again, err := pgx.Connect(ctx, dsn)
		require.NoError(t, err)
		defer again.Close(ctx)
		_, err = again.Exec(ctx, "SELECT n FROM kept")
		require.NoError(t, err)
	})
	conn, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "SELECT n FROM kept")
	require.ErrorContains(t, err, "does not exist")
}

// TestKilled: a test binary that is killed leaves no server and no directory.
func TestKilled(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), hold+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	dir := strings.TrimSpace(line)
	require.DirExists(t, dir)
	require.NoError(t, cmd.Process.Signal(syscall.SIGKILL))
	require.Error(t, cmd.Wait())
	for end := time.Now().Add(startWithin); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			break
		}
		require.True(t, time.Now().Before(end), "%s is left", dir)
	}
}

// TestStoppedAtOnce: a server that nobody wants any more before it has started
// is ended all the same.
func TestStoppedAtOnce(t *testing.T) {
	s, err := launch("")
	require.NoError(t, err)
	require.NoError(t, s.stop())
	require.NoDirExists(t, s.dir)
}
