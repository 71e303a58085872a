//go:build linux

package webinbox

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// TestLinkWorksOnce: a link lets one browser in, once; a wrong, an empty and a
// used one nobody. The next one stands in the file.
func TestLinkWorksOnce(t *testing.T) {
	w := newWorld(t)
	c := &caller{w: w}
	for _, wrong := range []string{"", "AAAAAAAAAAAAAAAAAAAAAAAAAA", strings.ToLower(w.token()), w.token() + "A"} {
		status, answer, header := c.do(http.MethodPost, "/api/enter", `{"token": "`+wrong+`"}`)
		require.Equal(t, http.StatusForbidden, status, wrong)
		require.Contains(t, answer, `"link"`)
		require.Empty(t, header.Values("Set-Cookie"))
	}
	token := w.token()
	in := w.enter() // the same, with the right one
	status, _, _ := in.do(http.MethodGet, "/api/requests", "")
	require.Equal(t, http.StatusOK, status)

	status, _, _ = c.do(http.MethodPost, "/api/enter", `{"token": "`+token+`"}`)
	require.Equal(t, http.StatusForbidden, status, "the used one")

	file, err := os.ReadFile(w.srv.LinkFile())
	require.NoError(t, err)
	require.Equal(t, w.srv.Link()+"\n", string(file))
	require.NotContains(t, string(file), token)
	info, err := os.Stat(w.srv.LinkFile())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	w.enter()
	require.Contains(t, w.log.String(), "why=link")
}

// TestLinkAtOnce: of many that open one link at the same moment one is let in.
func TestLinkAtOnce(t *testing.T) {
	w := newWorld(t)
	token := w.token()
	var in, out int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			_, _, ok, err := w.srv.sessions.enter(token, time.Now())
			mu.Lock()
			defer mu.Unlock()
			if err == nil && ok {
				in++
			} else if err == nil {
				out++
			}
		})
	}
	all.Wait()
	require.Equal(t, 1, in)
	require.Equal(t, 15, out)
}

// TestCookie: no script reads it, and no page of another site has it sent.
func TestCookie(t *testing.T) {
	w := newWorld(t)
	c := w.enter()
	require.True(t, c.cookie.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, c.cookie.SameSite)
	require.Equal(t, "/", c.cookie.Path)
	require.Empty(t, c.cookie.Domain)
	data, err := os.ReadFile(filepath.Join(w.dir, sessionsName))
	require.NoError(t, err)
	require.NotContains(t, string(data), c.cookie.Value, "only hashes are kept")
	require.NotContains(t, string(data), c.key)
}

// TestBothSecrets: the cookie goes to every port of the machine, so it opens
// nothing without the key that the page's own origin keeps (CSRF); nor does the
// key without the cookie.
func TestBothSecrets(t *testing.T) {
	w := newWorld(t)
	worker := w.hire("worker", "a task")
	r := w.ask(worker, "src/a.go", "")
	c, other := w.enter(), w.enter()
	approve := `{"scope": "once", "digest": "` + r.Digest + `"}`
	for name, bad := range map[string]*caller{
		"nobody":                {w: w},
		"cookie only":           {w: w, cookie: c.cookie},
		"key only":              {w: w, key: c.key},
		"another session's key": {w: w, cookie: c.cookie, key: other.key},
		"wrong cookie":          {w: w, cookie: &http.Cookie{Name: c.cookie.Name, Value: c.cookie.Value + "A"}, key: c.key},
		"another port's cookie": {w: w, cookie: &http.Cookie{Name: "pinfold_page_1", Value: c.cookie.Value}, key: c.key},
	} {
		for _, call := range [][3]string{
			{http.MethodGet, "/api/requests", ""},
			{http.MethodGet, "/api/requests/" + r.ID, ""},
			{http.MethodGet, "/api/agents", ""},
			{http.MethodGet, "/api/grants", ""},
			{http.MethodGet, "/api/records", ""},
			{http.MethodPost, "/api/verify", "{}"},
			{http.MethodPost, "/api/requests/" + r.ID + "/approve", approve},
			{http.MethodPost, "/api/requests/" + r.ID + "/deny", "{}"},
			{http.MethodPost, "/api/grants/" + r.ID + "/revoke", "{}"},
			{http.MethodPost, "/api/leave", "{}"},
		} {
			status, answer, _ := bad.do(call[0], call[1], call[2])
			require.Equal(t, http.StatusUnauthorized, status, "%s: %s", name, call[1])
			require.NotContains(t, answer, "worker")
		}
	}
	require.Equal(t, broker.Pending, w.status(r.ID).Status)
	status, answer, _ := c.do(http.MethodPost, "/api/requests/"+r.ID+"/approve", approve)
	require.Equal(t, http.StatusOK, status, answer)
	require.Equal(t, broker.Approved, w.status(r.ID).Status)
}

// TestForeignOrigin: a page of another origin, also on another port of this
// machine, changes and reads nothing, whatever secrets it has.
func TestForeignOrigin(t *testing.T) {
	w := newWorld(t)
	r := w.ask(w.hire("worker", ""), "src/a.go", "")
	c := w.enter()
	approve := `{"scope": "once", "digest": "` + r.Digest + `"}`
	for _, header := range []http.Header{
		{"Origin": {"https://evil.example"}},
		{"Origin": {"null"}},
		{"Origin": {"http://127.0.0.1:1"}},
		{"Origin": {"https://" + w.host()}},
		{"Origin": {w.origin(), "https://evil.example"}},
		{"Origin": nil}, // no browser sends a POST without
		{"Sec-Fetch-Site": {"cross-site"}},
		{"Sec-Fetch-Site": {"same-site"}},
	} {
		c.header = header
		status, answer, _ := c.do(http.MethodPost, "/api/requests/"+r.ID+"/approve", approve)
		require.Equal(t, http.StatusForbidden, status, "%v: %s", header, answer)
		if header["Origin"] != nil || header["Sec-Fetch-Site"] != nil {
			status, answer, _ = c.do(http.MethodGet, "/api/requests", "")
			require.Equal(t, http.StatusForbidden, status, "%v: %s", header, answer)
			status, _, _ = c.do(http.MethodGet, "/api/events", "")
			require.Equal(t, http.StatusForbidden, status, "%v", header)
		}
	}
	require.Equal(t, broker.Pending, w.status(r.ID).Status)
	c.header = http.Header{"Sec-Fetch-Site": {"same-origin"}}
	status, answer, _ := c.do(http.MethodPost, "/api/requests/"+r.ID+"/approve", approve)
	require.Equal(t, http.StatusOK, status, answer)
	require.Contains(t, w.log.String(), "why=origin")
}

// TestForeignHost: a name that was rebound to this machine is refused, even the
// page's own files; by its own names and through a forwarded port it answers.
func TestForeignHost(t *testing.T) {
	w := newWorld(t)
	c := &caller{w: w}
	for _, host := range []string{"evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "0.0.0.0", "[::2]:80", "localhost@evil.example"} {
		for _, path := range []string{"/", "/assets/main.js", "/api/requests"} {
			c.header = http.Header{"Host": {host}}
			status, _, _ := c.do(http.MethodGet, path, "")
			require.Equal(t, http.StatusMisdirectedRequest, status, "%s %s", host, path)
		}
	}
	for _, host := range []string{w.host(), "localhost", "LOCALHOST.:99", "127.0.0.2:1", "[::1]:1"} {
		c.header = http.Header{"Host": {host}}
		status, _, _ := c.do(http.MethodGet, "/", "")
		require.Equal(t, http.StatusOK, status, host)
	}
}

// TestHeaders: every answer has them, also a refusal. The page holds no script,
// style or listener of its own in the HTML, so that the policy can be strict.
func TestHeaders(t *testing.T) {
	w := newWorld(t)
	c := &caller{w: w}
	for _, path := range []string{"/", "/assets/main.js", "/assets/style.css", "/assets/icon.svg", "/assets/none.js", "/api/requests", "/none", "/assets/..%2fdoc.go"} {
		_, body, sent := c.do(http.MethodGet, path, "")
		for name, value := range headers {
			require.Equal(t, value, sent.Get(name), "%s of %s", name, path)
		}
		require.NotContains(t, body, "package webinbox")
	}
	csp := headers["Content-Security-Policy"]
	require.Contains(t, csp, "default-src 'none'")
	require.NotContains(t, csp, "unsafe")
	page, err := files.ReadFile("assets/index.html")
	require.NoError(t, err)
	for _, inline := range []string{"<style", " style=", " onclick=", "javascript:", "<script>"} {
		require.NotContains(t, string(page), inline)
	}
}

// TestOnlyLoopback: a listener that other machines reach is refused, and closed.
func TestOnlyLoopback(t *testing.T) {
	w := newWorld(t)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "0.0.0.0:0")
	require.NoError(t, err)
	_, err = New(l, Options{Broker: w.b, Dir: w.dir})
	require.ErrorContains(t, err, "could be reached from other machines")
	_, err = l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)

	l, err = new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	open := t.TempDir()
	require.NoError(t, os.Chmod(open, 0o755))
	_, err = New(l, Options{Broker: w.b, Dir: open})
	require.ErrorContains(t, err, "chmod 700")
}

// TestSessionsEnd: with their time, when left, and when too many others came;
// they outlive the server.
func TestSessionsEnd(t *testing.T) {
	w := newWorld(t)
	in := func(c *caller) bool {
		status, _, _ := c.do(http.MethodGet, "/api/requests", "")
		return status == http.StatusOK
	}
	left, stays := w.enter(), w.enter()
	status, _, _ := left.do(http.MethodPost, "/api/leave", "{}")
	require.Equal(t, http.StatusOK, status)
	require.False(t, in(left))
	require.True(t, in(stays))

	port := w.srv.sessions.addr.Port
	w.restart()
	require.Equal(t, port, w.srv.sessions.addr.Port)
	require.True(t, in(stays))
	require.False(t, in(left))

	req := &http.Request{Header: http.Header{"Cookie": {stays.cookie.Name + "=" + stays.cookie.Value}, keyHeader: {stays.key}}}
	require.True(t, w.srv.sessions.has(req, true, time.Now()))
	require.False(t, w.srv.sessions.has(req, true, time.Now().Add(sessionTime)))

	for range maxSessions - 1 {
		w.enter()
	}
	require.True(t, in(stays))
	w.enter()
	require.False(t, in(stays), "the oldest one goes")
}

// TestHalfAFile: what is no table of sessions lets nobody in, and is replaced.
func TestHalfAFile(t *testing.T) {
	w := newWorld(t)
	c := w.enter()
	w.halt()
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, sessionsName), []byte(`[{"port": `), 0o600))
	w.start(fmt.Sprintf("127.0.0.1:%d", w.srv.sessions.addr.Port))
	status, _, _ := c.do(http.MethodGet, "/api/requests", "")
	require.Equal(t, http.StatusUnauthorized, status)
	status, _, _ = w.enter().do(http.MethodGet, "/api/requests", "")
	require.Equal(t, http.StatusOK, status)
}

// TestWarningsAreFew: who floods with refused calls does not fill the log.
func TestWarningsAreFew(t *testing.T) {
	log := &logBuffer{}
	l := warnings{log: newTestLogger(log)}
	r := &http.Request{Method: http.MethodGet, URL: mustURL(t, "/\x1b[2J")}
	for range 1000 {
		l.add(r, "host")
	}
	// One at most each warningApart: 1000 of them take no hundredth of what
	// would make a second hundred lines.
	require.Less(t, strings.Count(log.String(), "\n"), 100)
	require.NotContains(t, log.String(), "\x1b")
}
