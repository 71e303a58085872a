package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/fileskills/mcpserver"
)

const token = "a-token-that-nobody-guesses"

// serve serves the set on a loopback port and returns its URL.
func serve(t *testing.T, set *fileskills.Set, o mcpserver.HTTPOptions) (url string, stop func() error) {
	t.Helper()
	return serveServer(t, mcpserver.New(set, mcpserver.Options{}), o)
}

func serveServer(t *testing.T, srv *mcpserver.Server, o mcpserver.HTTPOptions) (url string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx, l, o) }()
	stop = func() error {
		cancel()
		select {
		case err := <-ended:
			ended <- err
			return err
		case <-time.After(patience):
			t.Fatal("the server does not end")
			return nil
		}
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		require.NoError(t, stop())
	})
	return "http://" + l.Addr().String() + mcpserver.Endpoint, stop
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// post sends a request as it should be, but for what change does to it.
func post(t *testing.T, url, body string, change func(*http.Request)) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+token)
	if change != nil {
		change(req)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}

func TestWhoMayUseHTTP(t *testing.T) {
	url, _ := serve(t, newSet(t, nil, nil), mcpserver.HTTPOptions{Token: token, Hosts: []string{"agents.test"}})
	header := func(key string, values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header[key] = values }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	port := url[strings.LastIndex(url, ":"):strings.LastIndex(url, "/")]
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"as it should be":       {nil, 200},
		"by name":               {host("localhost" + port), 200},
		"by name with a dot":    {host("LOCALHOST." + port), 200},
		"through another port":  {host("localhost:9"), 200},
		"by IPv6":               {host("[::1]" + port), 200},
		"by a name that is set": {host("agents.test"), 200},
		"own origin":            {header("Origin", strings.TrimSuffix(url, mcpserver.Endpoint)), 200},
		"scheme in lower case":  {header("Authorization", "bearer "+token), 200},

		"rebound name":             {host("attacker.test" + port), 403},
		"rebound name, like ours":  {host("localhost.attacker.test" + port), 403},
		"another address":          {host("192.0.2.1" + port), 403},
		"the whole network":        {host("0.0.0.0" + port), 403},
		"a page":                   {header("Origin", "https://attacker.test"), 403},
		"a page of another port":   {header("Origin", "http://127.0.0.1:1"), 403},
		"a page of a sandbox":      {header("Origin", "null"), 403},
		"an origin that is none":   {header("Origin", ""), 403},
		"two origins":              {header("Origin", strings.TrimSuffix(url, mcpserver.Endpoint), "https://attacker.test"), 403},
		"no token":                 {header("Authorization"), 401},
		"empty token":              {header("Authorization", "Bearer "), 401},
		"wrong token":              {header("Authorization", "Bearer "+token+"x"), 401},
		"beginning of the token":   {header("Authorization", "Bearer "+token[:5]), 401},
		"token as another scheme":  {header("Authorization", "Basic "+token), 401},
		"two tokens":               {header("Authorization", "Bearer "+token, "Bearer x"), 401},
		"not JSON":                 {header("Content-Type", "text/plain"), 415},
		"a session that is no one": {header("Mcp-Session-Id", "guess"), 404},
	} {
		require.Equal(t, c.want, post(t, url, initialize, c.change), name)
	}
	require.Equal(t, 404, post(t, strings.TrimSuffix(url, "mcp")+"other", initialize, nil))
	require.Equal(t, 401, post(t, strings.TrimSuffix(url, "mcp")+"other", initialize, header("Authorization")), "what exists is told to nobody else")
}

func TestNoTokenIsNobody(t *testing.T) {
	url, _ := serve(t, newSet(t, nil, nil), mcpserver.HTTPOptions{})
	for _, value := range []string{"", "Bearer", "Bearer "} {
		require.Equal(t, 401, post(t, url, initialize, func(r *http.Request) { r.Header.Set("Authorization", value) }))
	}
}

func TestLargeBodiesAreRefused(t *testing.T) {
	url, _ := serve(t, newSet(t, nil, nil), mcpserver.HTTPOptions{Token: token})
	big := `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 33<<20) + `"}`
	require.Contains(t, []int{400, 413}, post(t, url, big, nil))
	require.Contains(t, []int{400, 413}, post(t, url, big, func(r *http.Request) { r.ContentLength = -1 }), "chunked")
	require.Equal(t, 400, post(t, url, `{"jsonrpc":`, nil))
	require.Equal(t, 200, post(t, url, initialize, nil), "it lives on")
}

func TestBodiesAtOnceAreBounded(t *testing.T) {
	url, _ := serve(t, newSet(t, nil, nil), mcpserver.HTTPOptions{Token: token})
	require.Equal(t, 200, post(t, url, initialize, nil), "as long as nobody holds memory")
	address, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	var open []net.Conn
	for range 4 {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
		_, err = fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", token, 32<<20)
		require.NoError(t, err)
		// The answer comes when the body begins to be read: from then on it counts.
		line, err := bufio.NewReader(c).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "HTTP/1.1 100 Continue\r\n", line)
		open = append(open, c)
	}
	require.Equal(t, 503, post(t, url, initialize, nil))
	for _, c := range open {
		require.NoError(t, c.Close())
	}
	require.Eventually(t, func() bool { return post(t, url, initialize, nil) == 200 }, patience, 10*time.Millisecond)
}

func TestSessionsAreBounded(t *testing.T) {
	url, _ := serve(t, newSet(t, nil, nil), mcpserver.HTTPOptions{Token: token})
	for range 64 {
		require.Equal(t, 200, post(t, url, initialize, nil))
	}
	require.Equal(t, 400, post(t, url, initialize, nil))
}

// bearer adds the token to the requests of a client.
type bearer struct{ http.RoundTripper }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return b.RoundTripper.RoundTrip(r)
}

// connect is the SDK's client.
func connect(t *testing.T, url string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	return connectClient(t, mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o), url)
}

func connectClient(t *testing.T, client *mcp.Client, url string) *mcp.ClientSession {
	t.Helper()
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: bearer{http.DefaultTransport}},
	}, nil)
	require.NoError(t, err)
	return session
}

func TestHTTPCallsEndWithTheServer(t *testing.T) {
	gate := make(parked)
	url, stop := serve(t, newSet(t, map[string]string{"a.txt": "hello"}, gate), mcpserver.HTTPOptions{Token: token})
	session := connect(t, url, nil)
	called := make(chan struct{})
	go func() {
		defer close(called)
		_, _ = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "read_file", Arguments: map[string]any{"path": "a.txt"}})
	}()
	<-gate
	start := time.Now()
	require.NoError(t, stop())
	require.Less(t, time.Since(start), drain, "it did not wait for the drain to pass")
	<-called
	_ = session.Close()
}

// What one session of a server has written, another has not read: it is refused
// to replace it unseen, as it is what a program writes.
func TestSessionsDoNotOverwriteEachOther(t *testing.T) {
	url, _ := serve(t, newSet(t, map[string]string{"out/f": "one\n"}, nil), mcpserver.HTTPOptions{Token: token})
	one, two := connect(t, url, nil), connect(t, url, nil)
	call := func(session *mcp.ClientSession, name string, args map[string]any) *mcp.CallToolResult {
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
		require.NoError(t, err)
		return res
	}
	require.NotEmpty(t, one.ID())
	for _, session := range []*mcp.ClientSession{one, two} {
		require.False(t, call(session, "read_file", map[string]any{"path": "out/f"}).IsError)
	}
	require.False(t, call(two, "write_file", map[string]any{"path": "out/f", "content": "two\n"}).IsError)
	refused := call(one, "write_file", map[string]any{"path": "out/f", "content": "mine\n"})
	require.True(t, refused.IsError)
	require.Contains(t, refused.Content[0].(*mcp.TextContent).Text, "out/f changed since you read it")
	require.False(t, call(two, "write_file", map[string]any{"path": "out/f", "content": "two, again\n"}).IsError)
	require.False(t, call(one, "read_file", map[string]any{"path": "out/f"}).IsError)
	require.False(t, call(one, "write_file", map[string]any{"path": "out/f", "content": "mine\n"}).IsError)
	require.NoError(t, one.Close())
	require.NoError(t, two.Close())
}
