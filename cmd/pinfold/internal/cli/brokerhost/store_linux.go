package brokerhost

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/pgstore"
	"github.com/pinfold-dev/pinfold/broker/sqlitestore"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
)

// OpenStore opens what the broker keeps its rows in: a file in dir, or the database
// of a URL.
func OpenStore(ctx context.Context, dir, url string) (broker.Store, error) {
	switch {
	case url == "":
		return sqlitestore.Open(ctx, filepath.Join(dir, "broker.db"))
	case strings.HasPrefix(url, "postgres://"), strings.HasPrefix(url, "postgresql://"):
		return pgstore.Open(ctx, url)
	}
	return nil, cli.UsageError(errors.New("--store: want a URL that begins with postgres://"), "without --store it is a SQLite file in --state-dir")
}
