package sandboxfs

import (
	"context"

	"github.com/pinfold-dev/pinfold/access"
)

// Asker answers for what a rule says may be asked for (pathresolver.RuleAsk):
// what it allows happens once, and only where that is all that stands in the
// way. Its methods are safe for use by many goroutines, and never touch the
// view that they answer for.
type Asker interface {
	// Ask decides about one operation; nil allows it. If q.Wait it waits for
	// the answer as long as ctx lasts, otherwise it answers at once. An error's
	// text is Refusal.Answer. When ctx is done the operation has been answered
	// already, and what was asked for stays asked for.
	Ask(ctx context.Context, q AskRequest) error

	// Record has an operation that was refused asked for, and uses up no leave.
	// It is called by one goroutine. When the same operation is tried again it
	// is put to Ask.
	Record(ctx context.Context, q AskRequest) error

	// Leave reports soon, from memory but for what has changed since it was asked
	// last, whether leave for a may have been given: then an operation
	// that is not waited for is put to Ask when it is tried first. It allows nothing
	// by itself. access(2) tells of it.
	Leave(a access.Access) bool
}

// AskRequest is one operation of a program in the view that leave is needed for.
type AskRequest struct {
	Accesses []access.Access // the first is what it is about; at least one
	Wait     bool            // an open that can wait for somebody's answer
	Syscall  string          // the FUSE operation, as in Refusal
	PID      uint32          // as seen where the connection was mounted
	UID      uint32
	Program  string // its name (comm), which it can choose itself; "" if unknown
}
