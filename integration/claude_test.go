package integration

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hook is `pinfold hook claude`: what it answers, and how it exits.
func hook(t *testing.T, cmd *exec.Cmd, input string) (decision, reason, said string, code int) {
	t.Helper()
	cmd.Args = append(cmd.Args[:1], append([]string{"hook", "claude"}, cmd.Args[1:]...)...)
	cmd.Stdin = strings.NewReader(input)
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, _ := cmd.Output()
	var answer struct {
		Output struct {
			Event    string `json:"hookEventName"`
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if len(out) > 0 {
		require.NoError(t, json.Unmarshal(out, &answer), "%s", out)
		require.Equal(t, "PreToolUse", answer.Output.Event)
	}
	return answer.Output.Decision, answer.Output.Reason, errOut.String(), cmd.ProcessState.ExitCode()
}

// preToolUse is what Claude Code sends, as its documentation has it.
func preToolUse(cwd, tool string, input any) string {
	data, err := json.Marshal(map[string]any{
		"session_id": "abc123", "transcript_path": "/home/me/.claude/projects/x/abc123.jsonl", "cwd": cwd,
		"permission_mode": "default", "hook_event_name": "PreToolUse",
		"tool_name": tool, "tool_input": input, "tool_use_id": "toolu_01ABC123",
	})
	if err != nil {
		panic(err)
	}
	return string(data)
}

// TestHookClaude holds that the hook decides about Claude Code's own tools as the
// policy does, and that what it does not understand is refused.
func TestHookClaude(t *testing.T) {
	s := serveBroker(t)
	p := s.project
	s.write("../policy.yaml", "version: 1\nextends: sandboxed\nfs: {write: [docs], ask_write: [src], hide: [secrets]}\n"+
		"tools: {Bash: {enabled: true}, Task: {}}\nbash_policy: test\nbash_commands: [go test]\n")
	flags := []string{"-C", p, "--policy", p + "/../policy.yaml"}
	file := func(path string) map[string]any { return map[string]any{"file_path": path} }
	for _, c := range []struct {
		tool  string
		input any
		want  string
		text  string
	}{
		{"Read", file(p + "/src/a.go"), "allow", ""},
		{"Read", file("/etc/passwd"), "deny", "Path '/etc/passwd' is outside the allowed sandbox\n"}, // W13
		{"Read", file(p + "/src/../../../etc/passwd"), "deny", "is outside the allowed sandbox\n"},
		{"Read", file(p + "/secrets"), "deny", ""},
		{"Write", map[string]any{"file_path": p + "/docs/new", "content": "x"}, "allow", ""},
		{"Write", map[string]any{"file_path": p + "/go.mod", "content": "x"}, "deny", "no write path covers it"},
		{"Write", map[string]any{"file_path": p + "/src/a.go", "content": "x"}, "ask", "could be asked for"},
		{"Edit", map[string]any{"file_path": p + "/docs/x", "old_string": "a", "new_string": "b"}, "allow", ""},
		{"Edit", map[string]any{"file_path": p + "/src/a.go", "old_string": "a", "new_string": "b"}, "ask", ""},
		{"MultiEdit", map[string]any{"file_path": p + "/go.mod", "edits": []any{}}, "deny", ""},
		{"NotebookEdit", map[string]any{"notebook_path": p + "/docs/n.ipynb", "new_source": "x"}, "allow", ""},
		{"NotebookEdit", map[string]any{"notebook_path": p + "/n.ipynb", "new_source": "x"}, "deny", ""},
		{"Write", map[string]any{"file_path": p + "/.claude/settings.json", "content": "{}"}, "deny", "protected"},
		{"Glob", map[string]any{"pattern": "*.go", "path": "src"}, "allow", ""},
		{"Glob", map[string]any{"pattern": "/etc/*"}, "deny", ""},
		{"Glob", map[string]any{"pattern": "**/*.go"}, "deny", "could show what the policy keeps back (secrets)"},
		{"Grep", map[string]any{"pattern": "x", "path": p + "/src"}, "allow", ""},
		{"Grep", map[string]any{"pattern": "x"}, "deny", "could show"},
		{"Bash", map[string]any{"command": "go test ./..."}, "allow", ""},
		{"Bash", map[string]any{"command": "go test ./... && rm -rf ~"}, "ask", "understood completely"},
		{"Bash", map[string]any{"command": "go test $(rm -rf ~)"}, "ask", ""},
		{"Bash", map[string]any{"command": "rm -rf ~"}, "ask", ""},
		{"Bash", map[string]any{"command": "go test -exec id ./..."}, "ask", `option "-exec" is not known`},
		{"Bash", map[string]any{"command": "go test /etc"}, "ask", ""},
		{"Bash", map[string]any{"command": "go test ./../x"}, "deny", "is outside the allowed sandbox"},
		{"Bash", map[string]any{"command": "go test -coverprofile=docs/c.out ./..."}, "allow", ""},
		{"Bash", map[string]any{"command": "go test -coverprofile=c.out ./..."}, "deny", "no write path covers it"},
		{"Bash", map[string]any{"command": "go test ./... 2>&1 | tail -20"}, "allow", ""},
		{"Bash", map[string]any{"command": "go test ./... | tail -20 go.mod"}, "ask", "not among them"},
		{"Bash", map[string]any{"command": "go vet ./..."}, "ask", "not among them"},
		{"WebFetch", map[string]any{"url": "https://example.com"}, "deny", "Tool 'WebFetch' is not declared by the policy"}, // M7
		{"mcp__other__tool", map[string]any{}, "deny", "is not declared"},
		{"TodoWrite", map[string]any{"todos": []any{}}, "", ""}, // it touches nothing: Claude Code goes on
		{"TaskUpdate", map[string]any{"taskId": "1"}, "", ""},
		{"TaskStop", map[string]any{"task_id": "b1"}, "allow", ""}, // as Bash
		{"Agent", map[string]any{"prompt": "x"}, "allow", ""},      // as Task
		{"Workflow", map[string]any{}, "deny", "is not declared"},
		{"Monitor", map[string]any{"command": "rm -rf ~"}, "deny", "is not declared"},
	} {
		decision, reason, said, code := hook(t, s.command("", flags...), preToolUse(p, c.tool, c.input))
		require.Zero(t, code, "%s %v: %s", c.tool, c.input, said)
		require.Equal(t, c.want, decision, "%s %v: %s", c.tool, c.input, reason)
		require.Contains(t, reason, c.text)
	}
	// What a policy says of the tool's own name counts more.
	s.write("../own.yaml", "version: 1\nextends: trusted\ntools: {Agent: {enabled: false}, TaskStop: {enabled: false}}\n")
	for tool, want := range map[string]string{"Task": "allow", "TaskOutput": "allow", "Agent": "deny", "TaskStop": "deny"} {
		decision, reason, said, _ := hook(t, s.command("", "-C", p, "--policy", p+"/../own.yaml"), preToolUse(p, tool, map[string]any{}))
		require.Equal(t, want, decision, "%s: %s%s", tool, reason, said)
	}
	// A relative path starts where Claude Code says that it is.
	decision, _, _, _ := hook(t, s.command("", flags...), preToolUse(p+"/docs", "Write", map[string]any{"file_path": "x", "content": "y"}))
	require.Equal(t, "allow", decision)
	decision, _, _, _ = hook(t, s.command("", flags...), preToolUse("/", "Read", file("etc/passwd")))
	require.Equal(t, "deny", decision)

	// Exit code 2 refuses the call; with any other one Claude Code would go on.
	for _, bad := range []string{
		"", "no JSON", `{"hook_event_name":"Stop"}`, preToolUse(p, "", nil), preToolUse(p, "Write", map[string]any{"content": "x"}),
		preToolUse(p, "Read", map[string]any{"file_path": 1}), preToolUse(p, "Bash", []any{}),
		preToolUse(p, "Glob", map[string]any{"pattern": "*/../../x"}),
	} {
		decision, _, said, code := hook(t, s.command("", flags...), bad)
		require.Equal(t, 2, code, bad)
		require.Empty(t, decision)
		require.Contains(t, said, "pinfold: error: ")
	}
	for _, wrong := range [][]string{nil, {"-C", "."}, {"-C", p, "--policy", "none.yaml"}, {"-C", p + "/none"}, {"--no-such-flag"}} {
		_, _, said, code := hook(t, s.command("", wrong...), preToolUse(p, "Read", file(p+"/src/a.go")))
		require.Equal(t, 2, code, "%v: %s", wrong, said)
	}
}

// TestHookClaudeAsksTheManager holds that with a broker the policy is the
// agent's own (M10), and that what has to be asked for waits (D1).
func TestHookClaudeAsksTheManager(t *testing.T) {
	s := serveBroker(t)
	s.hire("", "boss", "extends: trusted")
	s.hire("boss", "kid", asks)
	edit := preToolUse(s.project, "Edit", map[string]any{"file_path": s.project + "/src/a.go", "old_string": "package a", "new_string": "package b"})
	type answer struct {
		decision, reason string
		code             int
	}
	waiting := func(args ...string) <-chan answer {
		done := make(chan answer, 1)
		go func() {
			decision, reason, _, code := hook(t, s.command("kid", args...), edit)
			done <- answer{decision, reason, code}
		}()
		return done
	}
	done := waiting("--wait", "1h")
	r := s.pending()
	require.Equal(t, "Edit", r.Tool)
	require.Contains(t, r.Input, `"old_string":"package a"`)
	s.approve(r.ID)
	require.Equal(t, answer{"allow", "allowed", 0}, <-done)

	done = waiting("--wait", "1h")
	s.deny(s.pending().ID, "not in this release")
	got := <-done
	require.Equal(t, "deny", got.decision)
	require.Contains(t, got.reason, "Path 'src/a.go' is outside the allowed sandbox for writing; writable: docs\nwrite refused (denied_by_manager): not in this release") // D14

	// Nobody answers in time: a refusal, before Claude Code goes on by itself.
	// The request stays; how long it takes to make it nobody knows.
	for wait := 100 * time.Millisecond; ; wait *= 2 {
		got = <-waiting("--wait", wait.String())
		require.Equal(t, "deny", got.decision)
		require.Contains(t, got.reason, "nobody has answered yet")
		rows, err := s.as("boss").Requests(t.Context())
		require.NoError(t, err)
		if len(rows) == 1 {
			break
		}
	}
	decision, _, _, _ := hook(t, s.command("kid"), preToolUse(s.project, "Write", map[string]any{"file_path": s.project + "/docs/x", "content": "y"}))
	require.Equal(t, "allow", decision)

	// A broker that is away is no leave.
	cmd := s.command("nobody")
	_, _, _, code := hook(t, cmd, edit)
	require.Equal(t, 2, code)
}

// TestPermissionPrompt holds the tool that is given to Claude Code by
// --permission-prompt-tool: its answer is a text of JSON, allow with the very
// input, or deny with the reason.
func TestPermissionPrompt(t *testing.T) {
	s := serveBroker(t)
	s.hire("", "boss", "extends: trusted")
	s.hire("boss", "kid", asks)
	session := s.server("kid", false, "--permission-prompt")
	require.Equal(t, []string{"permission_prompt"}, toolNames(t, session, "permission_"))
	require.Empty(t, toolNames(t, s.server("kid", false), "permission_"))
	ask := func(tool string, input map[string]any) map[string]any {
		return map[string]any{"tool_name": tool, "input": input, "tool_use_id": "toolu_01ABC123"}
	}
	write := func(path string) map[string]any { return map[string]any{"file_path": path, "content": "x < y\n"} }

	docs := write(s.project + "/docs/x")
	got := use(session, "permission_prompt", ask("Write", docs))
	require.False(t, got.failed, got.text)
	want, err := json.Marshal(map[string]any{"behavior": "allow", "updatedInput": docs})
	require.NoError(t, err)
	require.JSONEq(t, string(want), got.text)

	denied := func(r result) string {
		t.Helper()
		require.False(t, r.failed, r.text)
		var answer struct{ Behavior, Message string }
		require.NoError(t, json.Unmarshal([]byte(r.text), &answer))
		require.Equal(t, "deny", answer.Behavior)
		return answer.Message
	}
	require.Contains(t, denied(use(session, "permission_prompt", ask("Write", write(s.project+"/go.mod")))), "no write path covers it")
	require.Contains(t, denied(use(session, "permission_prompt", ask("WebFetch", map[string]any{"url": "x"}))), "Tool 'WebFetch' is not declared")
	require.Contains(t, denied(use(session, "permission_prompt", ask("Write", map[string]any{}))), "no file_path is given")
	require.Contains(t, denied(use(session, "permission_prompt", ask("TodoWrite", map[string]any{}))), "no policy speaks of this tool")
	require.True(t, use(session, "permission_prompt", map[string]any{"tool_name": "Write"}).failed)

	done := later(session, "permission_prompt", ask("Write", write(s.project+"/src/a.go")))
	s.approve(s.pending().ID)
	require.Contains(t, (<-done).text, `"behavior":"allow"`)
	done = later(session, "permission_prompt", ask("Write", write(s.project+"/src/a.go")))
	s.deny(s.pending().ID, "")
	require.Contains(t, denied(<-done), "Denied by manager") // D14
}
