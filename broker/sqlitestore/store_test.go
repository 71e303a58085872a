package sqlitestore_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/sqlitestore"
	"github.com/pinfold-dev/pinfold/broker/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Open {
		path := filepath.Join(t.TempDir(), "state", "broker.db")
		return func(t *testing.T) broker.Store {
			store, err := sqlitestore.Open(t.Context(), path)
			require.NoError(t, err)
			return store
		}
	})
}
