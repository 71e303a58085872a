package integration

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMCPConformance runs the protocol's own suite. Every scenario runs: one
// that fails and is not listed as not applicable, or is listed and passes, is
// a failure.
func TestMCPConformance(t *testing.T) {
	listed, err := filepath.Abs("testdata/node/conformance.yml")
	require.NoError(t, err)
	server, token := serveMCP(t, mcpArgs(t, mcpTree(t))...)
	out, err := node(t, nil, "@modelcontextprotocol/conformance/dist/index.js", "server",
		"--url", withToken(t, server, token), "--suite", "all", "--expected-failures", listed)
	require.NoError(t, err)
	for _, scenario := range []string{
		"server-initialize", "ping", "logging-set-level", "tools-list", "resources-list", "prompts-list",
		"server-sse-multiple-streams", "dns-rebinding-protection",
	} {
		require.Regexp(t, `✓ `+scenario+`: [1-9]`, string(out))
	}

	docs, err := os.ReadFile("../docs/mcp.md")
	require.NoError(t, err)
	text, err := os.ReadFile(listed)
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^  - (\S+)$`).FindAllStringSubmatch(string(text), -1) {
		require.Contains(t, string(docs), "`"+m[1]+"`", "the manual lists what does not apply")
	}
}

// withToken is the URL of a proxy that adds the token, which the suite cannot
// send. All else, Host and Origin among it, goes through as it came.
//
// It has a request's body before it passes it on. An answer that comes between
// the body's last byte and its end would have net/http close the body, and the
// transport then drop the answer: the client waits for ever. One in 500 did.
func withToken(t *testing.T, server, token string) string {
	t.Helper()
	target, err := url.Parse(server)
	require.NoError(t, err)
	forward := &httputil.ReverseProxy{
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // of clients that leave
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host
			r.Out.Host = r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+token)
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL + target.Path
}
