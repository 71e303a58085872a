package pgstore_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/pgstore"
	"github.com/pinfold-dev/pinfold/broker/storetest"
	"github.com/pinfold-dev/pinfold/internal/pgtest"
)

// loadOf and loadAs make this binary run storetest.Load on a database, under a
// name.
const loadOf, loadAs = "STORETEST_LOAD", "STORETEST_NAME"

func TestMain(m *testing.M) {
	if dsn := os.Getenv(loadOf); dsn != "" {
		store, err := pgstore.Open(context.Background(), dsn)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		storetest.Load(context.Background(), store, os.Getenv(loadAs), os.Stdout)
	}
	os.Exit(pgtest.Main(m))
}

func loader(dsn, name string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), loadOf+"="+dsn, loadAs+"="+name)
	return cmd
}

func opener(dsn string) storetest.Open {
	return func(t *testing.T) broker.Store {
		store, err := pgstore.Open(t.Context(), dsn)
		require.NoError(t, err)
		return store
	}
}

func TestKill(t *testing.T) {
	dsn := pgtest.Database(t)
	storetest.TestKill(t, opener(dsn), func(name string) *exec.Cmd { return loader(dsn, name) })
}

// TestServerKilled: PostgreSQL itself is killed under load. Nothing that was
// acknowledged is lost, and brokers go on when it is back, without being
// started again.
func TestServerKilled(t *testing.T) {
	dsn := pgtest.Database(t)
	open := opener(dsn)
	s := open(t)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	acks := storetest.NewAcks()
	process := acks.Start(t, loader(dsn, "load"))
	acks.Await(t, 50)
	pgtest.Crash(t)
	acks.Await(t, 50)
	process.Kill(t)
	acks.Check(t, s)
}
