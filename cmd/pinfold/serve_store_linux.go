package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/pgstore"
	"github.com/pinfold-dev/pinfold/broker/sqlitestore"
)

// openStore opens what the broker keeps its rows in.
func openStore(ctx context.Context, f serveFlags) (broker.Store, error) {
	switch {
	case f.store == "":
		return sqlitestore.Open(ctx, filepath.Join(f.dir, "broker.db"))
	case strings.HasPrefix(f.store, "postgres://"), strings.HasPrefix(f.store, "postgresql://"):
		return pgstore.Open(ctx, f.store)
	}
	return nil, usageError(errors.New("--store: want a URL that begins with postgres://"), "without --store it is a SQLite file in --state-dir")
}
