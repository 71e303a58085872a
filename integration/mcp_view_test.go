package integration

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

// TestSkillsOverMCPAskInAView holds that a server inside the view of a hired
// agent asks once, and that what was approved lands though the view itself has to
// ask too: the broker makes that call (D41).
func TestSkillsOverMCPAskInAView(t *testing.T) {
	s := serveBroker(t)
	s.hire("", boss, "extends: trusted")
	s.write("docs/in", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"docs/x","content":"at once"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"src/a.go","content":"package b\n"}}}
`)
	_, err := s.as(boss).Hire(t.Context(), brokerhttp.HireBody{
		ID: "kid", Task: "write", Policy: &brokerhttp.Text{Name: "kid.yaml", Text: "version: 1\n" + asks},
		// Its client leaves once it has its answer.
		Command: []string{"sh", "-c", `{ cat docs/in; until grep -q '"id":3' docs/out; do sleep 0.05; done; } | pinfold mcp -C . > docs/out`},
	})
	require.NoError(t, err)
	r := s.pending()
	require.Equal(t, "write_file", r.Tool)
	require.Equal(t, "package a\n", s.read("src/a.go"))
	s.approve(r.ID)
	s.ended("kid")
	require.Equal(t, "package b\n", s.read("src/a.go"))
	require.Equal(t, "at once", s.read("docs/x"))
	require.NotContains(t, s.read("docs/out"), `"isError":true`)
	records, err := s.records()
	require.NoError(t, err)
	asked := 0
	for _, r := range records {
		if r.Principal == "kid" && strings.HasPrefix(r.Action, "ask") {
			asked++
		}
	}
	require.Equal(t, 1, asked, "one call is one question")
}

// ended waits until one of boss's workers has ended, and wants it to have done so well.
func (s *serving) ended(id string) {
	s.t.Helper()
	for {
		a, err := s.as(boss).Await(s.t.Context(), id)
		require.NoError(s.t, err)
		if a.State.Ended() {
			require.Zero(s.t, a.Exit.Code, a.Exit.Output)
			return
		}
		_, err = s.as(boss).Mailbox(s.t.Context(), false)
		require.NoError(s.t, err)
	}
}
