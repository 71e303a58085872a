package integration

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// toolCall is a call of a tool.
type toolCall struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

// everyCall calls every skill once or more, over mcpTree, and succeeds.
var everyCall = []toolCall{
	{"read_file", map[string]any{"path": "src/a.go"}},
	{"list_directory", map[string]any{"path": "src"}},
	{"glob", map[string]any{"pattern": "**/*.go"}},
	{"grep", map[string]any{"pattern": "package"}},
	{"file_info", map[string]any{"path": "src/a.go"}},
	{"mkdir", map[string]any{"path": "out/sub"}},
	{"write_file", map[string]any{"path": "out/sub/w.txt", "content": "one\ntwo\n"}},
	{"append_file", map[string]any{"path": "out/sub/w.txt", "content": "three"}},
	{"edit_file", map[string]any{"path": "out/sub/w.txt", "old_string": "two", "new_string": "zwei"}},
	{"edit_file_batch", map[string]any{"path": "out/sub/w.txt", "edits": []any{
		map[string]any{"old_string": "one", "new_string": "eins"},
		map[string]any{"old_string": "three", "new_string": "drei"},
	}}},
	{"regex_replace", map[string]any{"path": "out/sub/w.txt", "pattern": "([a-z]+)", "replacement": `<\1>`}},
	{"copy_file", map[string]any{"source": "src/a.go", "destination": "out/copy.go"}},
	{"rename", map[string]any{"source": "out/copy.go", "destination": "out/moved.go"}},
	{"apply_patch", map[string]any{"patch": "*** Begin Patch\n*** Add File: out/added.txt\n+added\n*** Update File: out/moved.go\n@@\n-package a\n+package moved\n*** End Patch\n"}},
	{"delete_file", map[string]any{"path": "out/added.txt"}},
}

// checkWritten holds that everyCall has done what it says.
func checkWritten(t *testing.T, root string) {
	t.Helper()
	for name, want := range map[string]string{"out/sub/w.txt": "<eins>\n<zwei>\n<drei>\n", "out/moved.go": "package moved\n", "src/a.go": "package a\n"} {
		got, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		require.Equal(t, want, string(got), name)
	}
	for _, name := range []string{"out/copy.go", "out/added.txt"} {
		require.NoFileExists(t, filepath.Join(root, name))
	}
}

// mcpTree makes a tree to serve: root, with a secret beside it.
func mcpTree(t *testing.T) (root string) {
	t.Helper()
	base := t.TempDir()
	root = filepath.Join(base, "root")
	for name, content := range map[string]string{
		"root/readme.md": "# Hello\n", "root/src/a.go": "package a\n", "root/.env": "KEY=1\n", "root/out/.keep": "", "secret": "TOP SECRET",
	} {
		path := filepath.Join(base, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	require.NoError(t, os.Symlink("../../secret", filepath.Join(root, "src", "leak")))
	return root
}

// mcpArgs are the arguments of pinfold for a server over root with everything
// enabled and out/ writable.
func mcpArgs(t *testing.T, root string) []string {
	t.Helper()
	return []string{"mcp", "-C", root, "-w", "out", "--hide", "**/.env", "--enable", "delete_file", "--enable", "apply_patch", "--state-dir", t.TempDir()}
}

// serveMCP starts pinfold with HTTP on a port of its own.
func serveMCP(t *testing.T, args ...string) (url, token string) {
	t.Helper()
	url, token, err := serveHTTP(t, exec.Command(pinfold, args...))
	require.NoError(t, err)
	return url, token
}

// serveHTTP is serveMCP for a command that lacks only where to listen. The
// error is a *startError.
func serveHTTP(t *testing.T, cmd *exec.Cmd) (url, token string, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	cmd.Args = append(cmd.Args, "--http", "127.0.0.1:0", "--token-file", file)
	errOut, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var said strings.Builder
	lines := bufio.NewScanner(errOut)
	for url == "" && lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		if m := regexp.MustCompile(`^pinfold: serving (http://\S+)$`).FindStringSubmatch(lines.Text()); m != nil {
			url = m[1]
		}
	}
	if url == "" {
		_ = cmd.Wait()
		return "", "", &startError{status: cmd.ProcessState.ExitCode(), text: said.String()}
	}
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, cmd.Wait(), "SIGTERM ends it cleanly")
	})
	made, err := os.ReadFile(file)
	require.NoError(t, err)
	return url, strings.TrimSpace(string(made)), nil
}
