package mcpserver

import "context"

type closingKey struct{}

// withClosing makes calls of sessions under the returned context end when
// closing does. The SDK itself gives calls a context that ends with the
// request only.
func withClosing(ctx, closing context.Context) context.Context {
	return context.WithValue(ctx, closingKey{}, closing)
}

// untilClosing is the context of a call. stop frees it.
func untilClosing(ctx context.Context) (_ context.Context, stop func()) {
	closing, ok := ctx.Value(closingKey{}).(context.Context)
	if !ok {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	release := context.AfterFunc(closing, func() { cancel(context.Cause(closing)) })
	return ctx, func() { release(); cancel(nil) }
}
