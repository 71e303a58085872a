package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/fileskills/mcpserver"
)

func textOf(r *mcp.CallToolResult) string { return r.Content[0].(*mcp.TextContent).Text }

// T24: what is not listed is not offered, and a call of it all the same is
// refused in the tool's own words.
func TestToolsBesideTheSkills(t *testing.T) {
	echo := func(_ context.Context, input json.RawMessage) (string, error) { return "got " + string(input), nil }
	refuse := func(context.Context, json.RawMessage) (string, error) {
		return "", &fileskills.Error{Code: "tool_disabled", Message: "Tool 'secret' is disabled"}
	}
	schema := json.RawMessage(`{"type":"object"}`)
	s := session(t, mcpserver.New(newSet(t, nil, nil), mcpserver.Options{Tools: []mcpserver.Tool{
		{Name: "echo", Description: "Says it again.", InputSchema: schema, ReadOnly: true, Call: echo},
		{Name: "secret", InputSchema: schema, Unlisted: true, Call: refuse},
	}}), nil)
	list, err := s.ListTools(t.Context(), nil)
	require.NoError(t, err)
	names := map[string]*mcp.Tool{}
	for _, tool := range list.Tools {
		names[tool.Name] = tool
	}
	require.NotNil(t, names["echo"])
	require.True(t, names["echo"].Annotations.ReadOnlyHint)
	require.Nil(t, names["secret"])
	require.NotNil(t, names["read_file"])

	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"a": 1}})
	require.NoError(t, err)
	require.Equal(t, `got {"a":1}`, textOf(res))
	res, err = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "secret"})
	require.NoError(t, err)
	require.True(t, res.IsError)
	require.Equal(t, "Tool 'secret' is disabled", textOf(res))
	require.Equal(t, "tool_disabled", res.Meta[mcpserver.ErrorKey].(map[string]any)["code"])
}

// D41: a question lasts as long as the call. The client that cancels the call
// ends it, and nothing is done.
func TestAQuestionEndsWithItsCall(t *testing.T) {
	asked, ended := make(chan struct{}), make(chan error, 1)
	question := mcpserver.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`), Call: func(ctx context.Context, _ json.RawMessage) (string, error) {
		err := mcpserver.Ask(ctx, "may I?")
		ended <- err
		return "yes", err
	}}
	answer, closed := make(chan string), make(chan struct{})
	s := session(t, mcpserver.New(newSet(t, nil, nil), mcpserver.Options{Tools: []mcpserver.Tool{question}}), &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked <- struct{}{}
			select {
			case action := <-answer:
				return &mcp.ElicitResult{Action: action}, nil
			case <-closed: // a person closes the question that nobody waits for
				return &mcp.ElicitResult{Action: "cancel"}, nil
			}
		},
	})
	t.Cleanup(func() { close(closed) })
	call := func(ctx context.Context) <-chan *mcp.CallToolResult {
		done := make(chan *mcp.CallToolResult, 1)
		go func() {
			res, _ := s.CallTool(ctx, &mcp.CallToolParams{Name: "ask"})
			done <- res
		}()
		return done
	}
	done := call(t.Context())
	<-asked
	answer <- "accept"
	require.NoError(t, <-ended)
	require.Equal(t, "yes", textOf(<-done))
	done = call(t.Context())
	<-asked
	answer <- "decline"
	require.ErrorIs(t, <-ended, mcpserver.ErrDeclined)
	require.True(t, (<-done).IsError)

	ctx, cancel := context.WithCancel(t.Context())
	done = call(ctx)
	<-asked
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Nil(t, <-done)

	require.ErrorIs(t, mcpserver.Ask(t.Context(), "?"), mcpserver.ErrNobody)
	mute := session(t, mcpserver.New(newSet(t, nil, nil), mcpserver.Options{Tools: []mcpserver.Tool{question}}), nil)
	_, err := mute.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"})
	require.NoError(t, err)
	require.True(t, errors.Is(<-ended, mcpserver.ErrCannotAsk))
}
