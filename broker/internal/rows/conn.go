package rows

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Conn is a connection within a transaction. Its errors are of the database: a
// full disk is broker.ErrFull.
type Conn interface {
	// Exec returns how many rows were changed. The arguments are strings,
	// int64, *int64 and []byte, numbered $1, $2, ... in the statement.
	Exec(ctx context.Context, sql string, args ...any) (int64, error)
	// Query calls each for every row.
	Query(ctx context.Context, sql string, each func(scan Scan) error, args ...any) error
}

// Scan copies a row's columns into pointers.
type Scan func(to ...any) error

// Stmt is a statement with its arguments.
type Stmt struct {
	SQL  string
	Args []any
}

// Backend is the one connection of a store that writes.
type Backend interface {
	Conn
	// Begin opens a transaction and waits until no other process has one. alone says
	// that nothing was committed since this backend's last Commit but by itself; false
	// where that is not known.
	Begin(ctx context.Context) (alone bool, err error)
	// Many is Exec of several statements, in order, at the price of one. Where one fails
	// the transaction cannot go on.
	Many(ctx context.Context, all []Stmt) (changed []int64, err error)
	// Commit makes the transaction durable and, where others can hear them,
	// tells them its topics.
	Commit(ctx context.Context, topics []string) error
	// Rollback undoes it. Afterwards Begin works, whatever happened before.
	Rollback(ctx context.Context)
}

// storable refuses what PostgreSQL cannot hold, for both: a string that is not
// UTF-8, or has a NUL.
func storable(args []any) error {
	for _, arg := range args {
		if s, ok := arg.(string); ok && (!utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0) {
			return fmt.Errorf("a row's text must be UTF-8 without NUL, this is not: %.100q", s)
		}
	}
	return nil
}
