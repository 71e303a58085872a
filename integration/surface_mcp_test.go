package integration

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/fileskills/mcpserver"
	"github.com/pinfold-dev/pinfold/integration/ops"
)

// mcpSurface is `pinfold mcp`, the program as it is shipped, over standard
// input and output or HTTP. Its walker mode is that of runSurface.
type mcpSurface struct {
	name string
	http bool
	uid  int
}

func (m mcpSurface) Name() string { return m.name }
func (m mcpSurface) UID() int     { return m.uid }
func (mcpSurface) InView() bool   { return false }

func (m mcpSurface) Start(t *testing.T, s *site, policy []string, mode string) (ops.Executor, error) {
	root := s.root
	args := []string{pinfold, "mcp", "--enable", "delete_file"}
	policy = programFlags(t, policy)
	for i := 0; i < len(policy); i++ {
		if policy[i] == "-C" {
			i++
			root += "/" + policy[i]
			continue
		}
		args = append(args, policy[i])
	}
	cmd := asUser(os.Geteuid(), mode, append(args, "-C", root)...)
	session, err := connect(t, cmd, m.http)
	if err != nil {
		return nil, err
	}
	return skillOps{call: func(name string, args map[string]any) (string, error) {
		return callTool(session, name, args)
	}}, nil
}

func (mcpSurface) Unguarded(_ *testing.T, s *site) ops.Executor { return ops.Native{Root: s.root} }

// connect starts cmd, a `pinfold mcp` that lacks only where to listen, and
// begins a session with it. The error is a *startError.
func connect(t *testing.T, cmd *exec.Cmd, overHTTP bool) (*mcp.ClientSession, error) {
	var errOut strings.Builder
	var transport mcp.Transport = &mcp.CommandTransport{Command: cmd}
	if overHTTP {
		url, token, err := serveHTTP(t, cmd)
		if err != nil {
			return nil, err
		}
		transport = &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true}
	} else {
		cmd.Stderr = &errOut
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, nil)
	if err != nil {
		return nil, &startError{status: exitStatus(cmd), text: errOut.String()}
	}
	t.Cleanup(func() { require.NoError(t, session.Close()) })
	return session, nil
}

// callTool is a call over the protocol.
func callTool(session *mcp.ClientSession, name string, args map[string]any) (string, error) {
	res, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return "", err
	}
	return answer(res)
}

// answer is the text of a result, or the *fileskills.Error in its _meta.
func answer(res *mcp.CallToolResult) (string, error) {
	var text strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text.WriteString(t.Text)
		}
	}
	if !res.IsError {
		return text.String(), nil
	}
	data, err := json.Marshal(res.Meta[mcpserver.ErrorKey])
	e := &fileskills.Error{}
	if err = errors.Join(err, json.Unmarshal(data, e)); err != nil {
		return "", err
	}
	if e.Error() != text.String() {
		return "", errors.New("the text is not the error's: " + text.String())
	}
	return "", e
}

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// exitStatus is that of a command which ends soon.
func exitStatus(cmd *exec.Cmd) int {
	_ = cmd.Wait()
	if cmd.ProcessState == nil {
		return -1
	}
	return cmd.ProcessState.ExitCode()
}
