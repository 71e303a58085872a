package integration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

// confirms is a worker whose commands are its own business where they are known,
// and whose Write has to be confirmed and to be asked for as well.
const confirms = "extends: sandboxed\nfs: {write: [docs], ask_write: [src], hide: [secrets, '**/.env']}\n" +
	"tools: {Bash: {}, Write: {requires_confirmation: true}, Task: {requires_confirmation: true}}\nbash_policy: read_only\nbash_commands: [ls, cat]\n"

// confirming is that worker, called by Claude Code in one of the two ways.
type confirming struct {
	*serving
	call func(tool string, input map[string]any) (decision, reason string)
}

// answered is what Claude Code is told.
type answered struct{ decision, reason string }

func newConfirming(t *testing.T, by string) *confirming {
	s := &confirming{serving: serveBroker(t)}
	s.hire("", "boss", "extends: trusted")
	s.hire("boss", "kid", confirms)
	if by == "hook" {
		s.call = func(tool string, input map[string]any) (decision, reason string) {
			decision, reason, said, code := hook(t, s.command("kid", "--wait", "1h"), preToolUse(s.project, tool, input))
			assert.Zero(t, code, said)
			return decision, reason
		}
		return s
	}
	session := s.server("kid", false, "--permission-prompt")
	s.call = func(tool string, input map[string]any) (string, string) {
		got := use(session, "permission_prompt", map[string]any{"tool_name": tool, "input": input})
		var answer struct{ Behavior, Message string }
		assert.NoError(t, json.Unmarshal([]byte(got.text), &answer), got.text)
		return answer.Behavior, answer.Message
	}
	return s
}

// asks makes a call that its manager is asked about.
func (s *confirming) asks(tool string, input map[string]any) (broker.Request, <-chan answered) {
	done := make(chan answered, 1)
	go func() {
		decision, reason := s.call(tool, input)
		done <- answered{decision, reason}
	}()
	return s.pending(), done
}

// TestClaudeApproval holds that the manager's yes to exactly this call makes hook
// and permission prompt allow it, one time, and its no makes them refuse it with
// the manager's reason.
func TestClaudeApproval(t *testing.T) {
	for _, by := range []string{"hook", "permission prompt"} {
		for _, c := range []struct {
			name, tool   string
			input, other map[string]any // other is another call of the same tool
		}{
			{"a command that is not known", "Bash", map[string]any{"command": "make install"}, map[string]any{"command": "make clean"}},
			{"a command that is not listed", "Bash", map[string]any{"command": "wc -l src/a.go"}, map[string]any{"command": "wc -l docs/x"}},
			{"a command said otherwise", "Bash", map[string]any{"command": "npx x", "description": "a"}, map[string]any{"command": "npx x", "description": "b"}},
			{"what could show what is hidden", "Bash", map[string]any{"command": "ls -R src"}, map[string]any{"command": "ls -R docs"}},
			{"a tool to be confirmed, on a file to be asked for", "Write", map[string]any{"file_path": "src/a.go", "content": "x"}, map[string]any{"file_path": "src/a.go", "content": "y"}},
			{"a tool to be confirmed", "Task", map[string]any{"prompt": "x"}, map[string]any{"prompt": "y"}},
		} {
			t.Run(by+"/"+c.name, func(t *testing.T) {
				s := newConfirming(t, by)
				r, done := s.asks(c.tool, c.input)
				require.Equal(t, c.tool, r.Tool)
				s.approve(r.ID)
				require.Equal(t, "allow", (<-done).decision)
				// It was for one time: the same call asks again, and so does another one.
				r, done = s.asks(c.tool, c.input)
				s.deny(r.ID, "twice is too much")
				got := <-done
				require.Equal(t, "deny", got.decision)
				require.Contains(t, got.reason, "twice is too much")
				r, done = s.asks(c.tool, c.other)
				s.deny(r.ID, "")
				require.Equal(t, "deny", (<-done).decision)
			})
		}
	}
}

// TestClaudeApprovedBeforehand holds that what was approved while nobody waited is
// the next call's that is the same, and no other call's.
func TestClaudeApprovedBeforehand(t *testing.T) {
	s := newConfirming(t, "hook")
	input, other := map[string]any{"command": "make install"}, map[string]any{"command": "make clean"}
	var r broker.Request
	for r.ID == "" { // until the request was made, however slow that is
		decision, _, said, code := hook(t, s.command("kid", "--wait", "500ms"), preToolUse(s.project, "Bash", input))
		require.Equal(t, "deny", decision, said)
		require.Zero(t, code)
		rows, err := s.as(boss).Requests(t.Context())
		require.NoError(t, err)
		if len(rows) > 0 {
			r = rows[0]
		}
	}
	s.approve(r.ID)
	r, done := s.asks("Bash", other)
	s.deny(r.ID, "")
	require.Equal(t, "deny", (<-done).decision)
	decision, reason := s.call("Bash", input)
	require.Equal(t, "allow", decision, reason)
	r, done = s.asks("Bash", input)
	s.deny(r.ID, "")
	require.Equal(t, "deny", (<-done).decision)

	// Leave that lasts is leave for the tool, and what it does not cover waits on.
	r, done = s.asks("Bash", input)
	_, err := s.as(boss).Approve(t.Context(), r.ID, brokerhttp.ApproveBody{Scope: broker.Path})
	require.NoError(t, err)
	require.Equal(t, "allow", (<-done).decision)
	decision, reason = s.call("Bash", other)
	require.Equal(t, "allow", decision, reason)
	r, done = s.asks("Task", map[string]any{"prompt": "x"})
	s.approve(r.ID)
	require.Equal(t, "allow", (<-done).decision)
}

// TestClaudeRefusedUnasked holds that what the rules refuse is refused at once:
// nobody is asked about it, and no approval of the tool changes it.
func TestClaudeRefusedUnasked(t *testing.T) {
	for _, by := range []string{"hook", "permission prompt"} {
		s := newConfirming(t, by)
		s.write("src/.env", "KEY=1\n")
		refused := func() {
			for _, command := range []string{"cat src/.env", "cat secrets/key", "git show HEAD:src/.env", "ls /root; make"} {
				decision, reason := s.call("Bash", map[string]any{"command": command})
				require.Equal(t, "deny", decision, command)
				require.NotContains(t, reason, "nobody has answered", command)
			}
			rows, err := s.as(boss).Requests(t.Context())
			require.NoError(t, err)
			require.Empty(t, rows)
		}
		refused()
		decision, reason := s.call("Bash", map[string]any{"command": "cat src/a.go"})
		require.Equal(t, "allow", decision, reason) // the control: known, listed, and not hidden
		r, done := s.asks("Bash", map[string]any{"command": "make"})
		_, err := s.as(boss).Approve(t.Context(), r.ID, brokerhttp.ApproveBody{Scope: broker.Session})
		require.NoError(t, err)
		require.Equal(t, "allow", (<-done).decision)
		refused()
	}
}

// TestClaudeApprovedWhereItRuns holds that a yes to a command is one to run it where it
// was to run when it was asked for, and that the manager reads where that is.
// Otherwise what was approved for one directory could be run in another.
func TestClaudeApprovedWhereItRuns(t *testing.T) {
	s := newConfirming(t, "hook")
	call := func(cwd, wait string, input map[string]any) string {
		decision, _, said, code := hook(t, s.command("kid", "--wait", wait), preToolUse(cwd, "Bash", input))
		assert.Zero(t, code, said)
		return decision
	}
	input := map[string]any{"command": "make clean"}
	asked := func(cwd string, input map[string]any) (broker.Request, <-chan string) {
		done := make(chan string, 1)
		go func() { done <- call(cwd, "1h", input) }()
		return s.pending(), done
	}
	r, done := asked(s.project+"/docs", input)
	require.JSONEq(t, `{"command":"make clean","cwd":"docs"}`, r.Input)
	// The same call there shares the request; elsewhere it is another one.
	require.Equal(t, "deny", call(s.project+"/src", "1s", input))
	rows, err := s.as(boss).Requests(t.Context())
	require.NoError(t, err)
	for len(rows) < 2 { // it was made, however slow that is
		require.Equal(t, "deny", call(s.project+"/src", "5s", input))
		rows, err = s.as(boss).Requests(t.Context())
		require.NoError(t, err)
	}
	s.approve(r.ID)
	require.Equal(t, "allow", <-done)
	for _, row := range rows {
		if row.ID != r.ID {
			require.JSONEq(t, `{"command":"make clean","cwd":"src"}`, row.Input)
			s.deny(row.ID, "")
		}
	}
	// At the project's directory nothing is added, and nothing is taken for it.
	r, done = asked(s.project, input)
	require.JSONEq(t, `{"command":"make clean"}`, r.Input)
	s.approve(r.ID)
	require.Equal(t, "allow", <-done)
	r, done = asked(s.project, map[string]any{"command": "make clean", "cwd": "docs"})
	require.JSONEq(t, `{"command":"make clean","cwd":"."}`, r.Input)
	s.deny(r.ID, "")
	require.Equal(t, "deny", <-done)
}

// TestClaudeApprovedForOne holds that of calls that are the same and wait at the same
// time one yes lets exactly one go on.
func TestClaudeApprovedForOne(t *testing.T) {
	for _, by := range []string{"hook", "permission prompt"} {
		t.Run(by, func(t *testing.T) {
			s := newConfirming(t, by)
			const calls = 4
			done := make(chan answered, calls)
			for range calls {
				go func() {
					decision, reason := s.call("Bash", map[string]any{"command": "make install"})
					done <- answered{decision, reason}
				}()
			}
			got := map[string]int{}
			s.approve(s.pending().ID)
			for got["allow"]+got["deny"] < calls {
				select {
				case a := <-done:
					got[a.decision]++
				case <-time.After(10 * time.Millisecond): // who came after the answer asks anew
					rows, err := s.as(boss).Requests(t.Context())
					require.NoError(t, err)
					for _, r := range rows {
						s.deny(r.ID, "once is enough")
					}
				}
			}
			require.Equal(t, map[string]int{"allow": 1, "deny": calls - 1}, got)
		})
	}
}

// TestClaudeApprovedInAView holds that of a change that Claude Code wants to make within
// a view, and the view would have to ask about anew, exactly what the manager approved is
// made, once, with one question: by hook and by permission prompt.
func TestClaudeApprovedInAView(t *testing.T) {
	edit := map[string]any{"file_path": "src/a.go", "old_string": "package a", "new_string": "package b"}
	made := map[string]any{"file_path": "src/b.go", "content": "package b\n"}
	for _, by := range []string{"hook", "permission prompt"} {
		t.Run(by, func(t *testing.T) {
			s := serveBroker(t)
			s.hire("", boss, "extends: trusted")
			s.write("docs/calls.sh", callsOf(t, by, s.project, edit, made, edit))
			_, err := s.as(boss).Hire(t.Context(), brokerhttp.HireBody{
				ID: "kid", Task: "edit", Policy: &brokerhttp.Text{Name: "kid.yaml", Text: "version: 1\n" + asks},
				Command: []string{"sh", "docs/calls.sh"},
			})
			require.NoError(t, err)
			r := s.pending()
			require.Equal(t, "edit_file", r.Tool)
			require.JSONEq(t, `{"path":"src/a.go","old_string":"package a","new_string":"package b","replace_all":false}`, r.Input)
			require.Equal(t, "package a\n", s.read("src/a.go"))
			s.approve(r.ID)
			r = s.pending()
			require.Equal(t, "package b\n", s.read("src/a.go"))
			require.JSONEq(t, `{"path":"src/b.go","content":"package b\n"}`, r.Input)
			s.approve(r.ID)
			r = s.pending() // the first one again: a yes is for once
			require.Equal(t, "package b\n", s.read("src/b.go"))
			s.deny(r.ID, "twice is too much")
			s.ended("kid")
			require.Equal(t, 2, strings.Count(s.read("docs/out"), "Nothing is left to be done."), s.read("docs/out"))
			require.Contains(t, s.read("docs/out"), "twice is too much")
			require.Equal(t, "package b\n", s.read("src/a.go"))
			records, err := s.records()
			require.NoError(t, err)
			asked := 0
			for _, r := range records {
				if r.Principal == "kid" && strings.HasPrefix(r.Action, "ask") {
					asked++
				}
			}
			require.Equal(t, 3, asked, "one call is one question")
		})
	}
}

// callsOf is a script that makes calls of Claude Code's Edit and Write, one after the
// other, and does not do itself what it was refused.
func callsOf(t *testing.T, by, cwd string, calls ...map[string]any) string {
	script := ""
	line := func(text string) { script += "cat <<'END'\n" + text + "\nEND\n" }
	if by == "permission prompt" {
		line(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` +
			"\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	for i, input := range calls {
		tool := "Edit"
		if input["content"] != nil {
			tool = "Write"
		}
		if by == "hook" {
			script += "pinfold hook claude --wait 1h >>docs/out <<'END'\n" + preToolUse(cwd, tool, input) + "\nEND\n"
			continue
		}
		data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": i + 2, "method": "tools/call", "params": map[string]any{
			"name": "permission_prompt", "arguments": map[string]any{"tool_name": tool, "input": input},
		}})
		require.NoError(t, err)
		line(string(data))
		script += fmt.Sprintf("until grep -q '\"id\":%d,' docs/out; do sleep 0.05; done\n", i+2)
	}
	if by == "hook" {
		return script
	}
	return "{\n" + script + "} | pinfold mcp -C . --permission-prompt >docs/out\n"
}
