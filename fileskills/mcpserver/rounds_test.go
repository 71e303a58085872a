package mcpserver_test

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/fileskills/mcpserver"
)

// An answer counts for the question that was asked, of the call that it was asked
// for, once: a client that sends what nobody asked for, or sends it again, is
// asked (D6 for the person in front of the client).
func TestAnAnswerIsForOneQuestion(t *testing.T) {
	set := newSet(t, nil, mcpserver.Confirm(nil))
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	in, to := io.Pipe()
	from, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcpserver.New(set, mcpserver.Options{}).ServeStdio(t.Context(), in, out) }()
	s, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: from, Writer: to}, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = s.Close()
		require.NoError(t, <-ended)
	})
	call := func(path, state string, said mcp.InputResponseMap) *mcp.CallToolResult {
		t.Helper()
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{
			Name: "write_file", Arguments: map[string]any{"path": path, "content": "x"}, RequestState: state, InputResponses: said,
		})
		require.NoError(t, err)
		return res
	}
	answer := func(res *mcp.CallToolResult, action string) mcp.InputResponseMap {
		t.Helper()
		require.Len(t, res.InputRequests, 1)
		said := mcp.InputResponseMap{}
		for id := range res.InputRequests {
			said[id] = &mcp.ElicitResult{Action: action}
		}
		return said
	}
	asked := call("out/a", "", nil)
	require.Contains(t, string(must(json.Marshal(asked.InputRequests))), `wants to write \"out/a\"`)
	yes := answer(asked, "accept")

	// Another call, another state, and nobody's: asked again, nothing is done.
	require.Len(t, call("out/b", asked.RequestState, yes).InputRequests, 1)
	require.Len(t, call("out/a", "made up", yes).InputRequests, 1)
	require.Len(t, call("out/a", "", yes).InputRequests, 1)
	again := call("out/a", asked.RequestState, yes) // which the first of these has used up
	require.Len(t, again.InputRequests, 1)
	require.Len(t, call("out/a", again.RequestState, yes).InputRequests, 1, "the id of another question")

	asked = call("out/a", "", nil)
	require.True(t, call("out/a", asked.RequestState, answer(asked, "decline")).IsError)
	asked = call("out/a", "", nil)
	yes = answer(asked, "accept")
	done := call("out/a", asked.RequestState, yes)
	require.False(t, done.IsError)
	require.Empty(t, done.InputRequests)
	require.Len(t, call("out/a", asked.RequestState, yes).InputRequests, 1, "once is once")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
