package integration

import (
	"context"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// asks is a worker that may ask to write src and to read keys.
const asks = "extends: sandboxed\nfs: {write: [docs], ask_write: [src], ask_read: [keys]}"

// TestSkillsOverMCPAsk holds D41: a skill that has to be asked for waits before
// it touches anything, for the manager (D1), in D14's words where the answer is
// no, and for as long as its client waits.
func TestSkillsOverMCPAsk(t *testing.T) {
	for name, overHTTP := range map[string]bool{"stdio": false, "HTTP": true} {
		t.Run(name, func(t *testing.T) { skillsAsk(t, overHTTP) })
	}
}

func skillsAsk(t *testing.T, overHTTP bool) {
	s := serveBroker(t)
	s.hire("", "boss", "extends: trusted")
	s.hire("boss", "kid", asks)
	s.hire("boss", "none", "extends: sandboxed")
	kid := s.server("kid", overHTTP)
	require.Contains(t, toolNames(t, kid, ""), "write_file")
	require.NotContains(t, toolNames(t, s.server("none", overHTTP), ""), "write_file", "W5")
	to := func(path, content string) map[string]any {
		return map[string]any{"path": path, "content": content}
	}

	// The control: what the policy allows is done at once, and nothing is asked.
	require.False(t, use(kid, "write_file", to("docs/a", "x")).failed)
	rows, err := s.as("boss").Requests(t.Context())
	require.NoError(t, err)
	require.Empty(t, rows)

	done := later(kid, "write_file", to("src/a.go", "package b\n"))
	r := s.pending()
	require.Equal(t, "write_file", r.Tool)
	require.Equal(t, "src/a.go", r.Resource)
	require.JSONEq(t, `{"path":"src/a.go","content":"package b\n"}`, r.Input)
	require.Equal(t, "package a\n", s.read("src/a.go"), "nothing is touched before the answer")
	s.approve(r.ID)
	got := <-done
	require.False(t, got.failed, got.text)
	require.Equal(t, "package b\n", s.read("src/a.go"))

	done = later(kid, "write_file", to("src/a.go", "package c\n"))
	s.deny(s.pending().ID, "not in this release")
	require.Equal(t, result{"Path 'src/a.go' is outside the allowed sandbox for writing; writable: docs\nwrite refused (denied_by_manager): not in this release", true}, <-done) // W13, D14
	require.Equal(t, "package b\n", s.read("src/a.go"))

	// Two places of one call are two requests; the leave for one is for this
	// call alone.
	done = later(kid, "rename", map[string]any{"source": "src/a.go", "destination": "src/b.go"})
	first := s.pending()
	require.Equal(t, "fs.move", string(first.Action))
	s.approve(first.ID)
	second := s.pending()
	require.NotEqual(t, first.Resource, second.Resource)
	s.approve(second.ID)
	require.False(t, (<-done).failed)
	require.Equal(t, "package b\n", s.read("src/b.go"))

	// A read, too.
	s.write("keys", "the key\n")
	done = later(kid, "read_file", map[string]any{"path": "keys"})
	s.approve(s.pending().ID)
	require.Contains(t, (<-done).text, "the key")

	// A client that gives up ends the wait; the row stays, and the same call goes
	// on with it (D17).
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := kid.CallTool(ctx, &mcp.CallToolParams{Name: "write_file", Arguments: to("src/c", "x")})
		gone <- err
	}()
	r = s.pending()
	cancel()
	require.Error(t, <-gone)
	require.Equal(t, r.ID, s.pending().ID)
	done = later(kid, "write_file", to("src/c", "x"))
	s.approve(r.ID)
	require.False(t, (<-done).failed)
	require.Equal(t, "x", s.read("src/c"))

	// What the policy denies is not asked for, and is on record (A1).
	require.Contains(t, use(kid, "write_file", to("go.mod", "x")).text, "Path 'go.mod' is outside the allowed sandbox for writing; writable: docs\n")
	require.True(t, use(kid, "read_file", map[string]any{"path": "../s"}).failed)
	records, err := s.records()
	require.NoError(t, err)
	found := false
	for _, r := range records {
		found = found || r.Principal == "kid" && r.Resource == "go.mod" && r.Effect == "deny"
	}
	require.True(t, found)

	// A server is its connection's agent, and nobody else (M10).
	cmd := s.command("kid", "mcp", "-C", t.TempDir())
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "agent 'kid' works in ")
	cmd = s.command("", "mcp", "-C", s.project)
	cmd.Env = append(cmd.Env, "PINFOLD_SOCKET="+s.state+"/pinfold/broker/operator.sock")
	out, err = cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "the operator is no agent")
}

// TestSkillsAskTheClientsUser holds that with --approve elicit the person in
// front of the client is asked, by the protocol's elicitation, where the client
// has that; otherwise the manager is, and without one nothing is done.
func TestSkillsAskTheClientsUser(t *testing.T) {
	s := serveBroker(t)
	s.hire("", "boss", "extends: trusted")
	s.hire("boss", "kid", asks)
	s.write("../policy.yaml", "version: 1\n"+asks+"\n")
	var asked []string
	answer := "accept"
	const (
		old = "2025-11-25" // where a server asks while it works
		now = "2026-07-28" // where its client asks between two calls
	)
	person := func(question string) string {
		asked = append(asked, question)
		return answer
	}
	args := map[string]any{"path": "src/a.go", "content": "package \x1b[2J\n"}
	alone := []string{"--policy", s.project + "/../policy.yaml", "--approve", "elicit"}
	for name, session := range map[string]*mcp.ClientSession{
		"without a broker":         s.asking("", old, person, alone...),
		"with a broker":            s.asking("kid", old, person, "--approve", "elicit"),
		"in rounds":                s.asking("", now, person, alone...),
		"in rounds, with a broker": s.asking("kid", now, person, "--approve", "elicit"),
	} {
		t.Run(name, func(t *testing.T) {
			asked, answer = nil, "accept"
			s.write("src/a.go", "package a\n")
			require.False(t, use(session, "write_file", map[string]any{"path": "docs/x", "content": "y"}).failed)
			require.Empty(t, asked, "nobody is asked about what is allowed")
			got := use(session, "write_file", args)
			require.False(t, got.failed, got.text)
			require.Equal(t, []string{`write_file wants fs.write of "src/a.go", which the policy wants asked for. Arguments: {"content":"package \u001b[2J\n","path":"src/a.go"}` + "\nAllow it, this once?"}, asked)
			answer = "decline"
			require.Equal(t, result{"write_file on 'src/a.go' was not confirmed: the user was asked and did not allow it. Nothing was changed.", true}, use(session, "write_file", args))
			require.Len(t, asked, 2, "a yes is for one call")
			require.True(t, use(session, "write_file", map[string]any{"path": "go.mod", "content": "x"}).failed)
			require.Len(t, asked, 2, "a deny is not asked about")
		})
	}
	rows, err := s.as("boss").Requests(t.Context())
	require.NoError(t, err)
	require.Empty(t, rows, "where the user answers the manager is not asked")

	// A client that cannot ask: the manager, or nobody.
	mute := s.server("kid", false, "--approve", "elicit")
	done := later(mute, "write_file", args)
	s.approve(s.pending().ID)
	require.False(t, (<-done).failed)
	nobody := s.server("", false, alone...)
	require.Equal(t, result{"write_file on 'src/a.go' was not confirmed: this client cannot ask. Nothing was changed.", true}, use(nobody, "write_file", args))
	never := s.server("kid", false, "--approve", "deny")
	require.Contains(t, use(never, "write_file", args).text, "it is refused, but could be asked for")
	rows, err = s.as("boss").Requests(t.Context())
	require.NoError(t, err)
	require.Empty(t, rows)
}
