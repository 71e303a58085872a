package child

import (
	"os"
	"sync"
)

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

// Self is the path by which this program starts itself again: where there is one, the
// kernel's link to the running file. By now an agent may have put another file at the
// path that it was started from.
func Self() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	return os.Executable()
}
