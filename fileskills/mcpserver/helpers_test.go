package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/fileskills/mcpserver"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen, and drain how long a
// server waits for calls that run.
const (
	patience = time.Minute
	drain    = 5 * time.Second
)

// newSet is a Set over a new directory with these files, where out/ may be
// written.
func newSet(t *testing.T, files map[string]string, gate fileskills.Gate) *fileskills.Set {
	t.Helper()
	base := t.TempDir()
	root := filepath.Join(base, "root")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "out"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(base, "secret"), []byte("TOP SECRET"), 0o644))
	for name, content := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"out"}, Hide: []string{"**/.env"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	set, err := fileskills.New(fileskills.Config{Resolver: r, Gate: gate})
	require.NoError(t, err)
	return set
}

// peer is a client that sends lines, whatever they are.
type peer struct {
	t      *testing.T
	to     *os.File
	from   *bufio.Reader
	ended  chan error
	cancel context.CancelFunc
}

// newPeer serves the set over pipes.
func newPeer(t *testing.T, set *fileskills.Set, o mcpserver.Options) *peer {
	t.Helper()
	in, to, err := os.Pipe()
	require.NoError(t, err)
	from, out, err := os.Pipe()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	p := &peer{t: t, to: to, from: bufio.NewReaderSize(from, 1<<20), ended: make(chan error, 1), cancel: cancel}
	srv := mcpserver.New(set, o)
	go func() {
		p.ended <- srv.ServeStdio(ctx, in, out)
		_ = out.Close()
	}()
	t.Cleanup(func() { // before the resolver is closed, which calls still use
		cancel()
		_ = to.Close()
		_ = from.Close()
		_ = p.wait()
		_ = in.Close()
	})
	return p
}

func (p *peer) send(lines ...string) {
	p.t.Helper()
	for _, l := range lines {
		_, err := io.WriteString(p.to, l+"\n")
		require.NoError(p.t, err)
	}
}

// answer is a message of the server.
type answer struct {
	ID     any             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (p *peer) next() answer {
	p.t.Helper()
	line, err := p.from.ReadBytes('\n')
	require.NoError(p.t, err)
	var a answer
	require.NoError(p.t, json.Unmarshal(line, &a), "%s", line)
	return a
}

// wait is what ServeStdio returned.
func (p *peer) wait() error {
	p.t.Helper()
	select {
	case err := <-p.ended:
		p.ended <- err // for the next who asks
		return err
	case <-time.After(patience):
		p.t.Fatal("the server does not end")
		return nil
	}
}

// hello begins a session as the named client.
func (p *peer) hello(name string) {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"`+name+`","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	require.Nil(p.t, p.next().Error)
}

// toolCall is a line that calls a tool.
func toolCall(id int, name string, args any) string {
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "method": "tools/call",
		"params": map[string]any{"name": name, "arguments": args},
	})
	if err != nil {
		panic(err)
	}
	return string(line)
}

// toolResult is the result of a call.
type toolResult struct {
	IsError bool `json:"isError"`
	Content []struct {
		Type, Text string
	}
	StructuredContent map[string]any            `json:"structuredContent"`
	Meta              map[string]map[string]any `json:"_meta"`
}

func resultOf(t *testing.T, a answer) toolResult {
	t.Helper()
	require.Nil(t, a.Error)
	var r toolResult
	require.NoError(t, json.Unmarshal(a.Result, &r))
	return r
}

// parked is a gate that holds every call until its context ends, and tells
// when one came.
type parked chan struct{}

func (g parked) Check(ctx context.Context, _ access.Request) access.Decision {
	g <- struct{}{}
	<-ctx.Done()
	return access.Decision{}
}
