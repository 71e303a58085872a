//go:build linux

package brokerhttp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/sqlitestore"
)

// The test binary is also a stranger, a process that connects to a socket and
// prints what it is told, and one that runs as an agent.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "connect" {
		connect(os.Args[2])
		return
	}
	if len(os.Args) == 4 && os.Args[1] == "follow" {
		hiresItself(os.Args[2], os.Args[3])
		return
	}
	os.Exit(m.Run())
}

func connect(socket string) {
	c, err := NewClient(Endpoint{Socket: socket})
	if err == nil {
		var s broker.Overview
		if s, err = c.Status(context.Background()); err == nil {
			fmt.Printf("you are %s", s.You)
			return
		}
	}
	fmt.Printf("refused: %v", err)
}

// hiresItself runs as an agent until it is killed.
func hiresItself(socket, id string) {
	c, err := NewClient(Endpoint{Socket: socket})
	if err == nil {
		_, err = c.Hire(context.Background(), HireBody{ID: id, Preset: "trusted", Cwd: "/", Follow: true})
	}
	if err != nil {
		fmt.Printf("refused: %v", err)
		return
	}
	fmt.Print("hired")
	_, _ = io.Copy(io.Discard, os.Stdin) // which ends with the test
}

// stranger runs connect in a process with these attributes.
func stranger(t *testing.T, socket string, attr *syscall.SysProcAttr) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pinfold-stranger-") // which every user can enter
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	exe, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	file := filepath.Join(dir, "stranger")
	require.NoError(t, os.WriteFile(file, exe, 0o755))
	cmd := exec.CommandContext(t.Context(), file, "connect", socket)
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// served is a broker on a real database, and its server.
type served struct {
	t   *testing.T
	dir string
	b   *broker.Broker
	srv *Server
	end func()

	store broker.Store
}

func serve(t *testing.T, dir string, opt Options) *served {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), filepath.Join(dir, "broker.db"))
	require.NoError(t, err)
	b, err := broker.New(t.Context(), broker.Options{Store: store})
	require.NoError(t, err)
	opt.Dir = dir
	srv, err := New(t.Context(), b, opt)
	require.NoError(t, err)
	s := &served{t: t, dir: dir, b: b, srv: srv, store: store}
	ended := false
	s.end = func() {
		if !ended {
			ended = true
			require.NoError(t, srv.Close())
			b.Close()
			require.NoError(t, store.Close())
		}
	}
	t.Cleanup(s.end)
	return s
}

// waits is how many waits of an agent are written down.
func (s *served) waits(agent string) (n int) {
	require.NoError(s.t, s.store.View(s.t.Context(), func(tx broker.ReadTx) error {
		list, err := tx.Waits(broker.WaitFilter{AgentID: agent})
		n = len(list)
		return err
	}))
	return n
}

// private is a directory that only this user enters.
func private(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	return dir
}

// as is a client of an agent, or of the operator for "".
func (s *served) as(id string) *Client {
	s.t.Helper()
	socket := OperatorSocket(s.dir)
	if id != "" {
		socket = AgentSocket(s.dir, id)
	}
	c, err := NewClient(Endpoint{Socket: socket})
	require.NoError(s.t, err)
	s.t.Cleanup(c.Close)
	return c
}

// asking may ask to write src.
const asking = "version: 1\nextends: sandboxed\nfs: {write: [docs], ask_write: [src]}\n"

// hire makes an agent whose policy is asking, or trusted for a manager.
func (s *served) hire(id, parent, preset string) Hired {
	s.t.Helper()
	body := HireBody{ID: id, Parent: parent, Preset: preset, Task: "a task"}
	if parent == "" {
		body.Cwd = s.t.TempDir()
	}
	if preset == "" {
		body.Policy = &Text{Name: "p.yaml", Text: asking}
	}
	h, err := s.as("").Hire(s.t.Context(), body)
	require.NoError(s.t, err)
	return h
}

// raw sends a request as it is, and returns the answer's status and body.
func (s *served) raw(c *Client, method, path, body string, header http.Header) (int, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader([]byte(body)))
	require.NoError(s.t, err)
	for k, v := range header {
		if k == "Host" {
			req.Host = v[0]
			continue
		}
		req.Header[k] = v
	}
	resp, err := c.http.Do(req)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	return resp.StatusCode, string(data)
}
