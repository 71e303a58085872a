package integration

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/ops"
)

// peer is another process that works until its standard input ends.
type peer struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *lockedText
	ended  chan struct{}
}

// start starts cmd as uid. The end of the test ends it: by the end of its
// input, and if that does not do, by force, which is a failure.
func start(t *testing.T, cmd *exec.Cmd, uid int) *peer {
	t.Helper()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	p := &peer{cmd: cmd, in: in, out: bufio.NewReader(out), stderr: &lockedText{}, ended: make(chan struct{})}
	cmd.Stderr = p.stderr
	if uid != os.Geteuid() {
		cmd.SysProcAttr = credential(uid)
	}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		if !p.wait(opLimit) {
			_ = cmd.Process.Kill()
			t.Errorf("%s did not end: %s", cmd, p.stderr)
		}
	})
	return p
}

// credential makes a process run as uid.
func credential(uid int) *syscall.SysProcAttr {
	if uid == os.Geteuid() {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
}

// wait waits for the process to end, and reports whether it did in time.
func (p *peer) wait(limit time.Duration) bool {
	go func() {
		p.stderr.once.Do(func() {
			_ = p.cmd.Wait()
			close(p.ended)
		})
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.ended:
		return true
	case <-timer.C:
		return false
	}
}

// startPeer starts a process that says "ready" when it is.
func startPeer(t *testing.T, cmd *exec.Cmd, uid int) *peer {
	t.Helper()
	p := start(t, cmd, uid)
	line, err := p.out.ReadString('\n')
	require.NoError(t, err, "%s said %q", cmd, p.stderr)
	require.Equal(t, "ready\n", line)
	return p
}

// lockedText collects what a process writes while it runs.
type lockedText struct {
	once sync.Once
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// startError is a process that refused to start.
type startError struct {
	status int
	text   string
	codes  []string // codes of violations, where the process tells them
}

func (e *startError) Error() string {
	return fmt.Sprintf("exit status %d, %v: %s", e.status, e.codes, e.text)
}

// actor is a peer that does operations.
type actor struct {
	*ops.Client
	*peer
}

func newActor(p *peer) actor { return actor{ops.NewClient(p.in, p.out), p} }

// stop ends one that hangs.
func (a actor) stop() { _ = a.cmd.Process.Kill() }
