package sqlitestore_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/sqlitestore"
	"github.com/pinfold-dev/pinfold/broker/storetest"
)

// loadOf and loadAs make this binary run storetest.Load on a database, under a
// name.
const loadOf, loadAs = "STORETEST_LOAD", "STORETEST_NAME"

func TestMain(m *testing.M) {
	if path := os.Getenv(loadOf); path != "" {
		store, err := sqlitestore.Open(context.Background(), path)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		storetest.Load(context.Background(), store, os.Getenv(loadAs), os.Stdout)
	}
	os.Exit(m.Run())
}

func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	storetest.TestKill(t, func(t *testing.T) broker.Store { return open(t, path) }, func(name string) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), loadOf+"="+path, loadAs+"="+name)
		return cmd
	})
}
