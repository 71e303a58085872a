package broker

import "context"

// Turn is what a call holds while it computes. It is let go of while the call waits:
// for an answer, a message, an end. A transport gives each agent few of them, so that
// what one asks, however costly, takes only so much of the processors from others.
type Turn interface {
	// Leave lets go of it; without it nothing happens.
	Leave()
	// Enter waits for it; with it nothing happens. It returns without it only where
	// the call has been given up.
	Enter()
}

type turnKey struct{}

// WithTurn has calls with this context hold a turn, which the caller has.
func WithTurn(ctx context.Context, t Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}

// withoutTurn does something that waits.
func withoutTurn(ctx context.Context, wait func()) {
	if t, ok := ctx.Value(turnKey{}).(Turn); ok {
		t.Leave()
		defer t.Enter()
	}
	wait()
}
