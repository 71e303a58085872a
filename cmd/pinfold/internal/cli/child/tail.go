package child

import (
	"bytes"
	"strings"
	"sync"
)

// lastOutput is how many bytes of a command's output its end is told with.
const lastOutput = 4 << 10

// Tail keeps the end of what is written to it.
type Tail struct {
	// Secrets are shown as asterisks. Shorter ones than leastSecret would hide what is
	// none. A command that encodes one shows it all the same.
	Secrets []string

	mu   sync.Mutex
	data []byte
}

const leastSecret = 6

// beyond is how much more is kept, so that no part of a secret is left at the beginning.
func (t *Tail) beyond() (n int) {
	for _, s := range t.Secrets {
		n = max(n, len(s))
	}
	return n
}

func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if over := len(t.data) - lastOutput - t.beyond(); over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := bytes.Clone(t.data)
	for _, s := range t.Secrets {
		if len(s) >= leastSecret {
			text = bytes.ReplaceAll(text, []byte(s), []byte(strings.Repeat("*", len(s))))
		}
	}
	return string(text[max(0, len(text)-lastOutput):])
}
