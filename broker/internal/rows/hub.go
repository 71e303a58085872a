package rows

import (
	"context"
	"sync"
)

// backlog is how many topics a listener may be behind; then it gets "" for all
// that follow.
const backlog = 256

// Any is the topic that stands for every one.
const Any = ""

// Hub hands topics to listeners. Its zero value is ready.
type Hub struct {
	mu        sync.Mutex
	listeners map[chan string]bool
	closed    bool
}

// Listen returns a channel of topics until ctx is done or the hub is closed.
func (h *Hub) Listen(ctx context.Context) <-chan string {
	ch := make(chan string, backlog)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		close(ch)
		return ch
	}
	if h.listeners == nil {
		h.listeners = map[chan string]bool{}
	}
	h.listeners[ch] = true
	context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.drop(ch)
	})
	return ch
}

// drop ends a listener, with mu held.
func (h *Hub) drop(ch chan string) {
	if h.listeners[ch] {
		delete(h.listeners, ch)
		close(ch)
	}
}

// Tell gives topics to every listener. The last place of a backlog is kept for
// Any: what finds no place was told before the listener reads that.
func (h *Hub) Tell(topics ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ch := range h.listeners {
		for _, topic := range topics {
			switch len(ch) {
			case cap(ch):
			case cap(ch) - 1:
				ch <- Any
			default:
				ch <- topic
			}
		}
	}
}

// Listening reports whether anybody does.
func (h *Hub) Listening() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.listeners) > 0
}

// Close ends every listener.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for ch := range h.listeners {
		h.drop(ch)
	}
}
