package storetest

import (
	"bufio"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// rounds is how often TestKill kills two processes: longRounds where
// PINFOLD_LONG is 1.
const rounds, longRounds = 5, 100

// Process is one that runs Load on its standard output.
type Process struct {
	cmd  *exec.Cmd
	acks *Acks
	over sync.WaitGroup
}

// Acks is what processes have acknowledged. It is safe for use by many
// goroutines.
type Acks struct {
	mu    sync.Mutex
	more  *sync.Cond
	lines []string
}

// NewAcks returns an empty one.
func NewAcks() *Acks {
	a := &Acks{}
	a.more = sync.NewCond(&a.mu)
	return a
}

// Len is how many there are.
func (a *Acks) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.lines)
}

// Await waits for n more than there are now.
func (a *Acks) Await(t *testing.T, n int) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	late := false
	defer time.AfterFunc(within, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		late = true
		a.more.Broadcast()
	}).Stop()
	for end := len(a.lines) + n; len(a.lines) < end; a.more.Wait() {
		require.False(t, late, "nothing more is acknowledged")
	}
}

// read takes whole lines until the other end is closed: a line that a kill cut
// was not acknowledged.
func (a *Acks) read(r io.Reader) {
	for in := bufio.NewReader(r); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		a.mu.Lock()
		a.lines = append(a.lines, strings.TrimSuffix(line, "\n"))
		a.more.Broadcast()
		a.mu.Unlock()
	}
}

// Start starts a process that runs Load.
func (a *Acks) Start(t *testing.T, cmd *exec.Cmd) *Process {
	t.Helper()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	p := &Process{cmd: cmd, acks: a}
	require.NoError(t, cmd.Start())
	p.over.Go(func() { a.read(out) })
	t.Cleanup(func() { p.Kill(t) })
	return p
}

// Kill kills it at once, and returns when all that it acknowledged is known.
func (p *Process) Kill(t *testing.T) {
	t.Helper()
	if p.cmd.ProcessState != nil {
		return
	}
	require.NoError(t, p.cmd.Process.Kill())
	p.over.Wait()
	require.ErrorContains(t, p.cmd.Wait(), "killed", "it ended by itself")
}

// TestKill kills processes that use one database at random moments, again and
// again, two at the same time: every approval, denial, grant and message that
// was acknowledged is there afterwards, none twice, and the chain verifies.
// load is a process that runs Load under a name.
func TestKill(t *testing.T, open Open, load func(name string) *exec.Cmd) {
	require.NoError(t, open(t).Close()) // it is there before the first process
	acks := NewAcks()
	n := rounds
	if os.Getenv("PINFOLD_LONG") == "1" {
		n = longRounds
	}
	for round := range n {
		one := acks.Start(t, load(id("%03d-a", round)))
		two := acks.Start(t, load(id("%03d-b", round)))
		acks.Await(t, 1+rand.IntN(50))
		one.Kill(t)
		acks.Await(t, 1+rand.IntN(20)) // the other goes on
		two.Kill(t)
		s := open(t)
		acks.Check(t, s)
		require.NoError(t, s.Close())
	}
	t.Logf("%d kills, %d acknowledged", 2*n, acks.Len())
}

// Check finds in s what was acknowledged, and nothing half done.
func (a *Acks) Check(t *testing.T, s broker.Store) {
	t.Helper()
	a.mu.Lock()
	acked := map[string]bool{}
	for _, line := range a.lines {
		require.False(t, acked[line], "twice: %s", line)
		acked[line] = true
	}
	a.mu.Unlock()
	view(t, s, func(tx broker.ReadTx) {
		recorded := map[string]bool{}
		for _, r := range chain(t, tx) {
			line := r.Action + " " + r.Resource
			require.False(t, recorded[line], "recorded twice: %s", line)
			recorded[line] = true
		}
		// Every row has its record, so that nothing was half done.
		there := map[string]bool{}
		requests, err := tx.Requests(broker.RequestFilter{})
		require.NoError(t, err)
		for _, r := range requests {
			there["ask "+r.ID] = true
			there[map[broker.Status]string{broker.Active: "approve ", broker.Denied: "deny ", broker.Pending: "ask "}[r.Status]+r.ID] = true
		}
		messages, err := tx.Messages(broker.MessageFilter{})
		require.NoError(t, err)
		for _, m := range messages {
			require.True(t, there["approve "+m.ID] || there["deny "+m.ID], "a message without its answer: %s", m.ID)
			if !m.DeliveredAt.IsZero() {
				there["deliver "+m.ID] = true
			}
		}
		require.Equal(t, recorded, there)
		for _, m := range messages {
			there["message "+m.ID] = true
		}
		for line := range acked {
			require.True(t, there[line], "lost: %s", line)
		}
		answers := 0
		for line := range there {
			if strings.HasPrefix(line, "approve ") || strings.HasPrefix(line, "deny ") {
				answers++
			}
		}
		require.Len(t, messages, answers, "an answer without its message")
	})
}
