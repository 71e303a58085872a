package fuseconn

import (
	"context"
	"slices"
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// maxInterrupts is how many requests may be interrupted between being read and
// beginning to wait.
const maxInterrupts = 1024

// interrupts tell requests that wait for somebody that their answer is not wanted any
// more. The kernel says so once, perhaps before the request has begun to wait; then it
// is remembered.
type interrupts struct {
	mu      sync.Mutex
	waiting map[uint64]context.CancelCauseFunc
	early   []uint64 // a ring
	next    int
	ended   bool
}

// begin returns a context that ends when the request is interrupted or the
// connection ends, and what is to be called when it waits no more.
func (i *interrupts) begin(unique uint64) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.waiting == nil {
		i.waiting = map[uint64]context.CancelCauseFunc{}
	}
	i.waiting[unique] = cancel
	if i.ended || slices.Contains(i.early, unique) {
		cancel(ErrInterrupted)
	}
	return ctx, func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		delete(i.waiting, unique)
		cancel(nil)
	}
}

// interrupt ends the wait of a request, now or when it begins.
func (i *interrupts) interrupt(unique uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if cancel := i.waiting[unique]; cancel != nil {
		cancel(ErrInterrupted)
		return
	}
	if len(i.early) < maxInterrupts {
		i.early = append(i.early, unique)
		return
	}
	i.early[i.next] = unique
	i.next = (i.next + 1) % maxInterrupts
}

// end ends all waits.
func (i *interrupts) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ended = true
	for _, cancel := range i.waiting {
		cancel(ErrInterrupted)
	}
}

// Context ends with cause ErrInterrupted when the process that made a request is
// interrupted, or the connection ends. end is called when it is not needed any
// more.
func (c *Conn) Context(h *fuse.InHeader) (ctx context.Context, end func()) {
	return c.interrupts.begin(h.Unique)
}
