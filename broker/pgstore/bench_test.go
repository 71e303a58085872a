package pgstore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/pgstore"
	"github.com/pinfold-dev/pinfold/broker/storetest"
	"github.com/pinfold-dev/pinfold/internal/pgtest"
)

func BenchmarkStore(b *testing.B) {
	storetest.Bench(b, func(b *testing.B) broker.Store {
		store, err := pgstore.Open(b.Context(), pgtest.Database(b))
		require.NoError(b, err)
		return store
	})
}
