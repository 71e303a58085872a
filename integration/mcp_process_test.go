package integration

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// mcpPatience is how long a server may take for what it must do at once.
const mcpPatience = time.Minute

// ended waits for a process, which must exit with 0.
func ended(t *testing.T, cmd *exec.Cmd, why string) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		require.NoError(t, err, why)
	case <-time.After(mcpPatience):
		require.NoError(t, cmd.Process.Kill())
		t.Fatalf("the server goes on: %s", why)
	}
}

// TestMCPProcessEnds holds that a server ends with its client, however that
// goes away.
func TestMCPProcessEnds(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"
	for name, leave := range map[string]func(*testing.T, *exec.Cmd, io.WriteCloser, io.ReadCloser){
		"end of input": func(t *testing.T, _ *exec.Cmd, in io.WriteCloser, _ io.ReadCloser) {
			require.NoError(t, in.Close())
		},
		"half a request": func(t *testing.T, _ *exec.Cmd, in io.WriteCloser, _ io.ReadCloser) {
			_, err := io.WriteString(in, ping[:20])
			require.NoError(t, err)
			require.NoError(t, in.Close())
		},
		"SIGTERM": func(t *testing.T, cmd *exec.Cmd, _ io.WriteCloser, _ io.ReadCloser) {
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		},
		"SIGTERM while nobody reads": func(t *testing.T, cmd *exec.Cmd, in io.WriteCloser, _ io.ReadCloser) {
			// Answers fill the pipe, and then requests do.
			go func() { _, _ = io.WriteString(in, strings.Repeat(ping, 20_000)) }()
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(pinfold, mcpArgs(t, mcpTree(t))...)
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			_, err = io.WriteString(in, ping)
			require.NoError(t, err)
			_, err = io.ReadFull(out, make([]byte, 10)) // it is there
			require.NoError(t, err)
			leave(t, cmd, in, out)
			ended(t, cmd, name)
			_ = in.Close()
		})
	}
}

// A client that closes its end and sends on is answered with nothing, and the
// server is not killed by SIGPIPE in the middle of a write.
func TestMCPClosedOutputIsNoSIGPIPE(t *testing.T) {
	root := mcpTree(t)
	from, out, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.Command(pinfold, mcpArgs(t, root)...)
	cmd.Stdout = out
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.NoError(t, out.Close())
	require.NoError(t, from.Close())
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	require.NoError(t, err)
	err = cmd.Wait()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.True(t, exit.Exited(), "%v", err)
	require.Equal(t, 1, exit.ExitCode())
}

// TestMCPProgress holds that a search which takes a while says how far it is.
func TestMCPProgress(t *testing.T) {
	root := mcpTree(t)
	for i := range 5000 {
		require.NoError(t, os.WriteFile(filepath.Join(root, "src", fmt.Sprintf("f%04d.txt", i)), []byte("needle\n"), 0o644))
	}
	seen := make(chan float64, 1000)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { seen <- r.Params.Progress },
	})
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: exec.Command(pinfold, mcpArgs(t, root)...)}, nil)
	require.NoError(t, err)
	defer session.Close()
	params := &mcp.CallToolParams{Name: "grep", Arguments: map[string]any{"pattern": "needle", "output": "count", "max_matches": 1000}}
	params.SetProgressToken("search")
	res, err := session.CallTool(t.Context(), params)
	require.NoError(t, err)
	require.False(t, res.IsError)
	require.NotEmpty(t, seen, "there was progress")
	last := -1.0
	for range len(seen) {
		p := <-seen
		require.Greater(t, p, last)
		last = p
	}
}
