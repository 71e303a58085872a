package fileskills

import (
	"context"
	"sync"
)

// locks keeps the calls of one process from working on one file at a time:
// the rest of what makes parallel edits safe is FS's, whose commit compares.
type locks struct {
	mu   sync.Mutex
	held map[string]*fileLock // by place; guarded by mu
}

// fileLock is one place that somebody works on.
type fileLock struct {
	turn    chan struct{} // holds one token while nobody has the lock
	waiting int           // who has it or waits for it; guarded by locks.mu
}

// lock waits for the place to be free, or for ctx. waited tells whether
// somebody else had it: what was read before may have changed.
func (l *locks) lock(ctx context.Context, place string) (unlock func(), waited bool, err error) {
	l.mu.Lock()
	f := l.held[place]
	if f == nil {
		if l.held == nil {
			l.held = make(map[string]*fileLock)
		}
		f = &fileLock{turn: make(chan struct{}, 1)}
		f.turn <- struct{}{}
		l.held[place] = f
	}
	f.waiting++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if f.waiting--; f.waiting == 0 {
			delete(l.held, place)
		}
	}
	select {
	case <-f.turn:
	default:
		waited = true
		select {
		case <-f.turn:
		case <-ctx.Done():
			leave()
			return nil, true, ctx.Err()
		}
	}
	return func() {
		f.turn <- struct{}{}
		leave()
	}, waited, nil
}
