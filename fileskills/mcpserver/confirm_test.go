package mcpserver_test

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/fileskills/mcpserver"
)

func TestAPersonConfirmsWhatIsWritten(t *testing.T) {
	var asked []string
	answer := "accept"
	s := session(t, mcpserver.New(newSet(t, map[string]string{"a.txt": "x"}, mcpserver.Confirm(nil)), mcpserver.Options{}), &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked = append(asked, r.Params.Message)
			return &mcp.ElicitResult{Action: answer}, nil
		},
	})
	call := func(name string, args map[string]any) *mcp.CallToolResult {
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
		require.NoError(t, err)
		return res
	}
	require.False(t, call("read_file", map[string]any{"path": "a.txt"}).IsError)
	require.True(t, call("write_file", map[string]any{"path": "a.txt", "content": "y"}).IsError)
	require.Empty(t, asked, "nobody is asked about reading, nor about what the rules refuse")

	require.False(t, call("write_file", map[string]any{"path": "out/\x1b[31m", "content": "y"}).IsError)
	require.Equal(t, []string{`write_file wants to write "out/\x1b[31m". Allow it?`}, asked)
	long := call("write_file", map[string]any{"path": "out/" + strings.Repeat(strings.Repeat("a", 200)+"/", 6) + "x", "content": "y"})
	require.True(t, long.IsError)
	require.Contains(t, long.Content[0].(*mcp.TextContent).Text, "is not shown to anybody")
	require.Len(t, asked, 1, "a person is asked about whole paths only")
	for _, answer = range []string{"decline", "cancel"} {
		res := call("mkdir", map[string]any{"path": "out/new"})
		require.True(t, res.IsError)
		require.Equal(t, "mkdir on 'out/new' was not confirmed: the user was asked and did not allow it. Nothing was changed.", res.Content[0].(*mcp.TextContent).Text)
	}
	require.True(t, call("list_directory", map[string]any{"path": "out/new"}).IsError, "it was not made")
}

func TestWhereNobodyCanBeAskedNothingIsWritten(t *testing.T) {
	set := newSet(t, nil, mcpserver.Confirm(nil))
	s := session(t, mcpserver.New(set, mcpserver.Options{}), nil)
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "write_file", Arguments: map[string]any{"path": "out/a", "content": "y"}})
	require.NoError(t, err)
	require.True(t, res.IsError)
	require.Equal(t, "write_file on 'out/a' was not confirmed: this client cannot ask. Nothing was changed.", res.Content[0].(*mcp.TextContent).Text)
	require.Equal(t, "permission_denied", res.Meta[mcpserver.ErrorKey].(map[string]any)["code"])

	_, err = set.Call(t.Context(), "write_file", []byte(`{"path":"out/a","content":"y"}`))
	require.ErrorContains(t, err, "nobody to ask")
}

// refuseAll is a gate that refuses.
type refuseAll struct{}

func (refuseAll) Check(context.Context, access.Request) access.Decision {
	return access.Decision{}.Refused("", "no")
}

func TestAConfirmationOnlyNarrows(t *testing.T) {
	d := mcpserver.Confirm(refuseAll{}).Check(t.Context(), access.Request{Action: access.FSRead, Resource: "a", Path: "a"})
	require.Equal(t, access.Decision{}.Refused("", "no"), d)
}

// What is left out of a path could be the ".." that leads elsewhere.
func TestAPersonSeesWholePaths(t *testing.T) {
	asked := 0
	s := session(t, mcpserver.New(newSet(t, map[string]string{"out/docs/x": "", "out/main.go": "old"}, mcpserver.Confirm(nil)), mcpserver.Options{}), &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked++
			return &mcp.ElicitResult{Action: "accept"}, nil
		},
	})
	for _, dots := range []int{200, 600} {
		path := "out/docs/" + strings.Repeat("./", dots) + "../main.go"
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "write_file", Arguments: map[string]any{"path": path, "content": "new"}})
		require.NoError(t, err)
		require.Equal(t, dots == 600, res.IsError)
		require.Equal(t, 1, asked, "a path too long to be shown is not asked about")
	}
}
