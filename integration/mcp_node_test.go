package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// nodeDir is where the clients of others are installed, by .ci/node.
var nodeDir = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("sh", "../.ci/node").Output()
	return strings.TrimSpace(string(out)), err
})

// node runs a script of an installed package, or one of testdata/node.
func node(t *testing.T, stdin []byte, script string, args ...string) (stdout []byte, err error) {
	t.Helper()
	dir, err := nodeDir()
	require.NoError(t, err)
	if strings.HasPrefix(script, "@") {
		script = filepath.Join(dir, "node_modules", script)
	} else {
		script, err = filepath.Abs(filepath.Join("testdata/node", script))
		require.NoError(t, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "bin/node"), append([]string{script}, args...)...)
	home := t.TempDir()
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"), "HOME="+home, "NO_COLOR=1", "CI=1",
		"NODE_COMPILE_CACHE="+filepath.Join(arena, "node")) // a third less time a start
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.WaitDelay = time.Second
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		t.Logf("%s: %v\n%s%s", script, err, out, errOut.Bytes())
	}
	return out, err
}

// clientReport is what client.cjs prints.
type clientReport struct {
	Tools []struct {
		Name         string
		InputSchema  map[string]any
		OutputSchema map[string]any
		Annotations  map[string]any
	}
	Results           []mcpResult
	Resources         []struct{ URI, Name string }
	ResourceTemplates []struct{ URITemplate string }
	Contents          struct {
		Contents []struct{ URI, Text string }
	}
	Instructions string
}

// mcpResult is the result of a tool, as the protocol has it.
type mcpResult struct {
	IsError           bool
	Content           []struct{ Type, Text string }
	StructuredContent map[string]any
}

func (r mcpResult) text() string {
	var b strings.Builder
	for _, c := range r.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

// typescript runs the TypeScript SDK's client.
func typescript(t *testing.T, job map[string]any) clientReport {
	t.Helper()
	in, err := json.Marshal(job)
	require.NoError(t, err)
	out, err := node(t, in, "client.cjs")
	require.NoError(t, err)
	var r clientReport
	require.NoError(t, json.Unmarshal(out, &r), "%s", out)
	return r
}

func (r clientReport) names() (names []string) {
	for _, tool := range r.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names
}

// TestMCPTypeScriptSDK lists and calls every tool with the TypeScript SDK.
func TestMCPTypeScriptSDK(t *testing.T) {
	t.Run("stdio", func(t *testing.T) {
		root := mcpTree(t)
		checkEveryCall(t, typescript(t, map[string]any{
			"command": append([]string{pinfold}, mcpArgs(t, root)...), "calls": everyCall,
		}), root)
	})
	t.Run("http", func(t *testing.T) {
		root := mcpTree(t)
		url, token := serveMCP(t, mcpArgs(t, root)...)
		checkEveryCall(t, typescript(t, map[string]any{"url": url, "token": token, "calls": everyCall}), root)
	})
}

func checkEveryCall(t *testing.T, r clientReport, root string) {
	t.Helper()
	var called []string
	for i, res := range r.Results {
		name := everyCall[i].Name
		require.False(t, res.IsError, "%s: %s", name, res.text())
		called = append(called, name)
	}
	slices.Sort(called)
	require.Equal(t, r.names(), slices.Compact(called), "every tool that is listed is called")
	checkWritten(t, root)
	for _, tool := range r.Tools {
		require.Equal(t, false, tool.Annotations["openWorldHint"], tool.Name)
		require.NotEmpty(t, tool.OutputSchema, tool.Name)
		require.Equal(t, false, tool.InputSchema["additionalProperties"], tool.Name)
	}
	require.Equal(t, "file:///readme.md", r.Resources[0].URI)
	require.Equal(t, "# Hello\n", r.Contents.Contents[0].Text)
	require.Equal(t, "file:///{+path}", r.ResourceTemplates[0].URITemplate)
	require.Contains(t, r.Instructions, "out")
}

// TestMCPAgentsGetText holds that agents who would show their model the
// structured content alone are sent none.
func TestMCPAgentsGetText(t *testing.T) {
	root := mcpTree(t)
	r := typescript(t, map[string]any{
		"command": append([]string{pinfold}, mcpArgs(t, root)...), "calls": everyCall, "name": "claude-code",
	})
	for i, res := range r.Results {
		require.Empty(t, res.StructuredContent, everyCall[i].Name)
		require.NotEmpty(t, res.text(), everyCall[i].Name)
	}
	for _, tool := range r.Tools {
		require.Empty(t, tool.OutputSchema, tool.Name)
	}
}

// TestMCPInspector lists and calls every tool with the Inspector's CLI.
func TestMCPInspector(t *testing.T) {
	root := mcpTree(t)
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"files": map[string]any{"command": pinfold, "args": mcpArgs(t, root)},
	}})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "mcp.json")
	require.NoError(t, os.WriteFile(file, config, 0o600))
	inspect := func(args ...string) []byte {
		out, err := node(t, nil, "@modelcontextprotocol/inspector/clients/launcher/build/index.js",
			append([]string{"--cli", "--config", file, "--server", "files"}, args...)...)
		require.NoError(t, err, "%v", args)
		return out
	}
	var list clientReport
	require.NoError(t, json.Unmarshal(inspect("--method", "tools/list", "--strict"), &list))
	called := map[string]bool{}
	for _, call := range everyCall {
		args := []string{"--method", "tools/call", "--tool-name", call.Name}
		for name, value := range call.Arguments {
			text, ok := value.(string)
			if !ok {
				b, err := json.Marshal(value)
				require.NoError(t, err)
				text = string(b)
			}
			args = append(args, "--tool-arg", name+"="+text)
		}
		var res mcpResult
		require.NoError(t, json.Unmarshal(inspect(args...), &res))
		require.False(t, res.IsError, "%s: %s", call.Name, res.text())
		called[call.Name] = true
	}
	for _, name := range list.names() {
		require.True(t, called[name], name)
	}
	checkWritten(t, root)
}
