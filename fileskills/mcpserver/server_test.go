package mcpserver_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/fileskills/mcpserver"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// listed are the tools that the server names, with what it says of them.
func listed(p *peer) (tools []struct {
	Name         string
	OutputSchema map[string]any
	Annotations  map[string]bool
}) {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
	a := p.next()
	require.Equal(p.t, "list", a.ID)
	var list struct{ Tools any }
	list.Tools = &tools
	require.NoError(p.t, json.Unmarshal(a.Result, &list))
	return tools
}

// Who shows its model the structured content alone must not get any: the text
// would be lost. Everybody else gets both, and no body twice.
func TestStructuredContentByClient(t *testing.T) {
	files := map[string]string{"a.txt": "the body of the file\n"}
	for _, c := range []struct {
		client string
		mode   mcpserver.Structured
		want   bool
	}{
		{"some-program", mcpserver.StructuredAuto, true},
		{"claude-code", mcpserver.StructuredAuto, false},
		{"codex-mcp-client", mcpserver.StructuredAuto, false},
		{"Visual Studio Code - Insiders", mcpserver.StructuredAuto, false},
		{"claude-code", mcpserver.StructuredAlways, true},
		{"some-program", mcpserver.StructuredNever, false},
	} {
		p := newPeer(t, newSet(t, files, nil), mcpserver.Options{Structured: c.mode})
		p.hello(c.client)
		for _, tool := range listed(p) {
			require.Equal(t, c.want, tool.OutputSchema != nil, "%s: %s", c.client, tool.Name)
		}
		p.send(toolCall(1, "read_file", map[string]any{"path": "a.txt"}))
		a := p.next()
		r := resultOf(t, a)
		require.Equal(t, c.want, r.StructuredContent != nil, c.client)
		require.Contains(t, r.Content[0].Text, "the body of the file")
		require.Equal(t, 1, strings.Count(string(a.Result), "the body of the file"), "never sent twice")

		p.send(toolCall(2, "write_file", map[string]any{"path": "a.txt", "content": "y"}))
		r = resultOf(t, p.next())
		require.True(t, r.IsError)
		require.Equal(t, c.want, r.Meta[mcpserver.ErrorKey] != nil, "a refusal reaches %s once", c.client)
	}
}

func TestAnnotationsSayWhatSkillsDo(t *testing.T) {
	p := newPeer(t, newSet(t, nil, nil), mcpserver.Options{})
	p.hello("test")
	hints := map[string]map[string]bool{}
	for _, tool := range listed(p) {
		require.Len(t, tool.Annotations, 4, "%s: every hint is given", tool.Name)
		require.False(t, tool.Annotations["openWorldHint"], tool.Name)
		hints[tool.Name] = tool.Annotations
	}
	require.True(t, hints["read_file"]["readOnlyHint"])
	require.False(t, hints["read_file"]["destructiveHint"])
	require.False(t, hints["write_file"]["readOnlyHint"])
	require.True(t, hints["write_file"]["destructiveHint"])
	require.True(t, hints["mkdir"]["idempotentHint"])
}

// An error is text for the model, with its machine-readable form beside it,
// and shows no path of the host.
func TestARefusalIsAToolError(t *testing.T) {
	p := newPeer(t, newSet(t, map[string]string{"a.txt": "x"}, nil), mcpserver.Options{})
	p.hello("test")
	for path, end := range map[string]string{"../secret": "", "a.txt": " for writing; writable: out"} {
		code := map[string]string{"../secret": "path_outside_root", "a.txt": "write_not_allowed"}[path]
		p.send(toolCall(1, "write_file", map[string]any{"path": path, "content": "y"}))
		a := p.next()
		r := resultOf(t, a)
		require.True(t, r.IsError)
		require.True(t, strings.HasPrefix(r.Content[0].Text, "Path '"+path+"' is outside the allowed sandbox"+end+"\n"), r.Content[0].Text)
		require.Equal(t, code, r.Meta[mcpserver.ErrorKey]["code"])
		require.Empty(t, r.StructuredContent)
		require.NotContains(t, string(a.Result), "root/", "no path of the host")
	}
	p.send(toolCall(2, "write_file", map[string]any{"path": "out/a.txt", "content": "y"}))
	require.False(t, resultOf(t, p.next()).IsError)
}

// session connects the SDK's client to the set.
func session(t *testing.T, srv *mcpserver.Server, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	url, _ := serveServer(t, srv, mcpserver.HTTPOptions{Token: token})
	s := connect(t, url, o)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// stateless is a request of protocol version 2026-07-28, which has no handshake: each
// says who it is from.
func stateless(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}%s}}`, id, method, params)
}

// What a list or file may be kept for is said in the words that protocol version
// 2026-07-28 has: by nobody but the client that was told, and not for long. An
// intermediary that handed it on would show one client what another may not see.
func TestAnswersAreKeptByNobodyElse(t *testing.T) {
	p := newPeer(t, newSet(t, map[string]string{"a.txt": "x"}, nil), mcpserver.Options{})
	for i, c := range []struct{ method, params string }{
		{"server/discover", ""}, {"tools/list", ""}, {"resources/list", ""}, {"resources/templates/list", ""},
		{"resources/read", `,"uri":"file:///a.txt"`},
	} {
		p.send(stateless(i, c.method, c.params))
		a := p.next()
		require.Nil(t, a.Error, c.method)
		var got struct {
			ResultType, CacheScope string
			TTLMs                  *int
		}
		require.NoError(t, json.Unmarshal(a.Result, &got))
		require.Equal(t, "complete", got.ResultType, c.method)
		require.Equal(t, "private", got.CacheScope, c.method)
		require.NotNil(t, got.TTLMs, c.method)
		require.Zero(t, *got.TTLMs, c.method)
	}
}

// A root with more files than a page holds is listed to its end, each once, though
// files come and go meanwhile.
func TestResourcesAreListedByPages(t *testing.T) {
	root := t.TempDir()
	file := func(i int) string { return fmt.Sprintf("f%03d", i) }
	for i := range 450 {
		require.NoError(t, os.WriteFile(filepath.Join(root, file(i)), nil, 0o644))
	}
	r, err := pathresolver.New(pathresolver.Config{Root: root})
	require.NoError(t, err)
	defer r.Close()
	set, err := fileskills.New(fileskills.Config{Resolver: r})
	require.NoError(t, err)
	p := newPeer(t, set, mcpserver.Options{})
	var names []string
	params, pages := "", 0
	for ; pages < 10; pages++ {
		p.send(stateless(pages, "resources/list", params))
		a := p.next()
		require.Nil(t, a.Error)
		var page struct {
			Resources  []mcp.Resource
			NextCursor *string
		}
		require.NoError(t, json.Unmarshal(a.Result, &page))
		require.NotEmpty(t, page.Resources)
		for _, r := range page.Resources {
			names = append(names, r.Name)
		}
		if page.NextCursor == nil {
			break
		}
		require.NoError(t, os.Remove(filepath.Join(root, names[len(names)-1]))) // where the next one begins
		require.NoError(t, os.WriteFile(filepath.Join(root, "a"+file(pages)), nil, 0o644))
		params = `,"cursor":"` + *page.NextCursor + `"`
	}
	require.Equal(t, 2, pages)
	require.Len(t, names, 450)
	for i, name := range names {
		require.Equal(t, file(i), name)
	}
	p.send(stateless(99, "resources/list", `,"cursor":"???"`))
	require.Equal(t, -32602, p.next().Error.Code)
}

func TestResourcesAreFilesUnderTheSameRules(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\xff"
	set := newSet(t, map[string]string{
		"a b.txt": "hello", "sub/c.txt": "deep", "pic.png": png, ".env": "KEY=1", "sub/.env": "KEY=2",
		"big.txt": strings.Repeat("x", 1<<20+1), "just.txt": strings.Repeat("x", 1<<20),
	}, nil)
	s := session(t, mcpserver.New(set, mcpserver.Options{}), nil)
	read := func(uri string) (*mcp.ResourceContents, error) {
		res, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			return nil, err
		}
		return res.Contents[0], nil
	}
	list, err := s.ListResources(t.Context(), nil)
	require.NoError(t, err)
	var uris []string
	for _, r := range list.Resources {
		uris = append(uris, r.URI)
	}
	require.Equal(t, []string{"file:///a%20b.txt", "file:///big.txt", "file:///just.txt", "file:///pic.png"}, uris,
		"what is hidden is not listed")

	for uri, want := range map[string]string{
		"file:///a%20b.txt": "hello", "file:///sub/c.txt": "deep", "file:///sub/../sub/c.txt": "deep",
	} {
		c, err := read(uri)
		require.NoError(t, err, uri)
		require.Equal(t, want, c.Text)
	}
	c, err := read("file:///pic.png")
	require.NoError(t, err)
	require.Equal(t, png, string(c.Blob), base64.StdEncoding.EncodeToString(c.Blob))
	require.Equal(t, "image/png", c.MIMEType)
	_, err = read("file:///just.txt")
	require.NoError(t, err)

	for _, uri := range []string{
		"file:///../secret", "file:///%2e%2e/secret", "file:////etc/passwd", "file:///sub/../../secret",
		"file:///.env", "file:///sub/.env", "file:///big.txt", "file:///sub", "file:///", "file:///missing",
		"file:///a%00b", "file://other.host/a%20b.txt", "file:///a%20b.txt?x", "file:a%20b.txt", "http://localhost/a",
	} {
		c, err := read(uri)
		require.Error(t, err, uri)
		require.Nil(t, c)
		require.NotContains(t, err.Error(), "TOP SECRET")
	}
}

//nolint:staticcheck // deprecated from protocol version 2026-07-28 on, and in use
func TestClientsThatAskAreToldOfRefusals(t *testing.T) {
	entries := make(chan map[string]any, 10)
	set := newSet(t, map[string]string{"a.txt": "x"}, nil)
	s := session(t, mcpserver.New(set, mcpserver.Options{}), &mcp.ClientOptions{
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			entries <- map[string]any{"level": string(r.Params.Level), "data": r.Params.Data}
		},
	})
	call := func(path string) {
		_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "read_file", Arguments: map[string]any{"path": path}})
		require.NoError(t, err)
	}
	call("../secret") // nobody asked yet
	require.NoError(t, s.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "warning"}))
	call("a.txt")
	call("missing.txt")
	call("../secret")
	e := <-entries
	require.Equal(t, "warning", e["level"])
	require.Equal(t, "../secret", e["data"].(map[string]any)["path"])
	require.Empty(t, entries)
}

// switched is an FS whose policy is replaced.
type switched struct {
	fileskills.FS
	writable atomic.Bool
}

func (s *switched) WritePaths() []string {
	if s.writable.Load() {
		return s.FS.WritePaths()
	}
	return nil
}

func TestRefreshTellsOfAnotherList(t *testing.T) {
	r, err := pathresolver.New(pathresolver.Config{Root: t.TempDir(), WritePaths: []string{"out"}})
	require.NoError(t, err)
	defer r.Close()
	fs := &switched{FS: fileskills.Resolved(r)}
	set, err := fileskills.New(fileskills.Config{FS: fs})
	require.NoError(t, err)
	srv := mcpserver.New(set, mcpserver.Options{})
	changed := make(chan struct{}, 10)
	s := session(t, srv, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	})
	offers := func(name string) bool {
		list, err := s.ListTools(t.Context(), nil)
		require.NoError(t, err)
		for _, tool := range list.Tools {
			if tool.Name == name {
				return true
			}
		}
		return false
	}
	require.True(t, offers("read_file"))
	require.False(t, offers("write_file"))
	for _, now := range []bool{true, false} {
		fs.writable.Store(now)
		srv.Refresh()
		<-changed
		require.Equal(t, now, offers("write_file"))
		require.True(t, offers("read_file"))
	}
}

// A root that the client names is nobody's authority: it is not even asked for.
//
//nolint:staticcheck // deprecated from protocol version 2026-07-28 on, and in use
func TestClientRootsGiveNoAuthority(t *testing.T) {
	set := newSet(t, nil, nil)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	client.AddRoots(&mcp.Root{URI: "file:///"})
	client.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			require.NotEqual(t, "roots/list", method)
			return next(ctx, method, req)
		}
	})
	url, _ := serveServer(t, mcpserver.New(set, mcpserver.Options{}), mcpserver.HTTPOptions{Token: token})
	s := connectClient(t, client, url)
	defer s.Close()
	for _, path := range []string{"/etc/passwd", "../secret"} {
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "read_file", Arguments: map[string]any{"path": path}})
		require.NoError(t, err)
		require.True(t, res.IsError)
	}
}
