package fileskills

import (
	"context"
	"fmt"
	"time"
)

// grace is how long promptly waits for what has heard that ctx is done.
const grace = 20 * time.Millisecond

// promptly runs f, which only reads, and returns soon after ctx is done even
// while a system call or a long match keeps f. f then ends by itself, with
// nothing of it seen; it closes what it opened.
func promptly[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type answer struct {
		val T
		err error
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a.err = fmt.Errorf("fault: %v", p) // the goroutine is ours: a panic would end the host
			}
			done <- a
		}()
		a.val, a.err = f()
	}()
	select {
	case a := <-done:
		return a.val, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-done: // as a rule, and then nothing is left running
		return a.val, a.err
	case <-time.After(grace):
		var none T
		return none, ctx.Err()
	}
}
