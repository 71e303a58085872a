package viewbench

import (
	"strings"
	"sync"
)

// tail keeps the end of what a process says on its standard error, for the
// message when it fails. Its zero value is ready.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 2048

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.buf = t.buf[over:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.buf))
}
