package child

import "sync"

// lastOutput is how many bytes of a command's output its end is told with.
const lastOutput = 4 << 10

// Tail keeps the end of what is written to it.
type Tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if over := len(t.data) - lastOutput; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}
