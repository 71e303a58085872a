package sqlitestore_test

import (
	"path/filepath"
	"testing"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/storetest"
)

func BenchmarkStore(b *testing.B) {
	storetest.Bench(b, func(b *testing.B) broker.Store { return open(b, filepath.Join(b.TempDir(), "broker.db")) })
}
