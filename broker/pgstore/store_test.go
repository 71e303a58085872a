package pgstore_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/pgstore"
	"github.com/pinfold-dev/pinfold/broker/pgstore/pgtest"
	"github.com/pinfold-dev/pinfold/broker/storetest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Open {
		dsn := pgtest.Database(t)
		return func(t *testing.T) broker.Store {
			store, err := pgstore.Open(t.Context(), dsn)
			require.NoError(t, err)
			return store
		}
	})
}
