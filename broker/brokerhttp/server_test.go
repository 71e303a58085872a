//go:build linux

package brokerhttp

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/permission"
)

var wantSrc = DecideBody{Action: access.FSWrite, Resource: "src/a.go", Reason: "it is there"}

// D11, D12, D13: the paths without a version, to the letter.
func TestApproveAndDeny(t *testing.T) {
	s := serve(t, private(t), Options{})
	s.hire("boss", "", "trusted")
	s.hire("kid", "boss", "")
	ask := func() broker.Request {
		r, err := s.as("kid").Ask(t.Context(), wantSrc)
		require.NoError(t, err)
		require.Equal(t, broker.Pending, r.Status)
		return r
	}
	r := ask()
	again := ask()
	require.Equal(t, r.ID, again.ID, "D23: the same request is the same row")

	status, body := s.raw(s.as("boss"), "POST", "/approve/"+r.ID, `{"caller_id":"kid"}`, nil)
	require.Equal(t, http.StatusForbidden, status, body)
	for _, who := range []string{"kid", ""} { // D19: neither itself nor its manager's manager
		status, body = s.raw(s.as(who), "POST", "/approve/"+r.ID, "", nil)
		require.Equal(t, http.StatusForbidden, status, body)
		require.Contains(t, body, `"message":"Only the agent's manager can approve"`)
	}
	status, body = s.raw(s.as("boss"), "POST", "/approve/"+r.ID, `{"caller_id":"boss"}`, nil)
	require.Equal(t, http.StatusOK, status, body)
	require.JSONEq(t, `{"approved":true,"session_id":"kid","tool_name":"fs.write"}`, body)
	status, _ = s.raw(s.as("boss"), "POST", "/approve/"+r.ID, "", nil)
	require.Equal(t, http.StatusOK, status, "the same answer again is no error")
	status, body = s.raw(s.as("boss"), "POST", "/deny/"+r.ID, "", nil)
	require.Equal(t, http.StatusConflict, status, body)
	require.Contains(t, body, "boss")

	other := wantSrc
	other.Resource = "src/b.go"
	r2, err := s.as("kid").Ask(t.Context(), other)
	require.NoError(t, err)
	status, body = s.raw(s.as("boss"), "POST", "/deny/"+r2.ID, `{"reason":"not now"}`, nil)
	require.Equal(t, http.StatusOK, status, body)
	require.JSONEq(t, `{"denied":true,"session_id":"kid","tool_name":"fs.write"}`, body)
	ended, err := s.as("kid").Wait(t.Context(), r2.ID)
	require.NoError(t, err)
	require.Equal(t, "not now", ended.Denial())

	status, body = s.raw(s.as("boss"), "POST", "/approve/no-such", "", nil)
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, body, `"message":"Approval not found: no-such"`)
	status, body = s.raw(s.as(""), "POST", "/v1/agents/nobody/fire", "", nil)
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, body, `"message":"Session not found: nobody"`)
}

// D17: who waits goes on waiting through a restart of the broker.
func TestWaitOutlivesTheBroker(t *testing.T) {
	dir := private(t)
	s := serve(t, dir, Options{})
	s.hire("boss", "", "trusted")
	s.hire("kid", "boss", "")
	kid := s.as("kid")
	r, err := kid.Ask(t.Context(), wantSrc)
	require.NoError(t, err)
	ended := make(chan broker.Request, 1)
	failed := make(chan error, 1)
	go func() {
		r, err := kid.Wait(t.Context(), r.ID)
		if err != nil {
			failed <- err
			return
		}
		ended <- r
	}()
	require.Eventually(t, func() bool { return s.waits("kid") == 1 }, time.Minute, 5*time.Millisecond, "it waits")
	s.end()
	s = serve(t, dir, Options{})
	_, err = s.as("boss").Approve(t.Context(), r.ID, ApproveBody{})
	require.NoError(t, err)
	select {
	case r := <-ended:
		require.True(t, r.Approval())
	case err := <-failed:
		t.Fatal(err)
	}
}

// D32: by the socket and by what the kernel says of the other end.
func TestStrangersAreRefused(t *testing.T) {
	s := serve(t, private(t), Options{Launch: func(context.Context, Launch) error { return nil }})
	s.hire("boss", "", "trusted")
	elsewhere := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if os.Geteuid() != 0 {
		elsewhere.Cloneflags |= syscall.CLONE_NEWUSER
		elsewhere.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	}
	operator, root := OperatorSocket(s.dir), AgentSocket(s.dir, "boss")
	require.Equal(t, "you are root", stranger(t, operator, nil))
	require.Contains(t, stranger(t, operator, elsewhere), "another process namespace")
	require.Equal(t, "you are boss", stranger(t, root, nil), "and is met here from now on")
	require.Contains(t, stranger(t, root, elsewhere), "another process namespace")

	// An agent with a view is never met beside the broker.
	_, err := s.as("").Hire(t.Context(), HireBody{ID: "viewed", Cwd: t.TempDir(), Command: []string{"true"}})
	require.NoError(t, err)
	viewed := AgentSocket(s.dir, "viewed")
	require.Contains(t, stranger(t, viewed, nil), "another process namespace")
	require.Equal(t, "you are viewed", stranger(t, viewed, elsewhere))

	if os.Geteuid() == 0 {
		nobody := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		require.Contains(t, stranger(t, root, nobody), "permission denied", "the directory is closed")
		for dir := filepath.Dir(root); dir != "/"; dir = filepath.Dir(dir) {
			require.NoError(t, os.Chmod(dir, 0o777))
			if dir == os.TempDir() {
				break
			}
		}
		require.NoError(t, os.Chmod(root, 0o777))
		require.Contains(t, stranger(t, root, nobody), "user 65534 connected")
	}
}

// Over TCP a token says who asks, and nothing else does.
func TestTCPNeedsAToken(t *testing.T) {
	s := serve(t, private(t), Options{Hosts: []string{"box.example"}})
	s.hire("boss", "", "trusted")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, s.srv.ListenTCP(t.Context(), l))
	kid := s.hire("kid", "boss", "")
	require.FileExists(t, kid.TokenFile)
	url := "http://" + l.Addr().String()
	for id, file := range map[string]string{"boss": s.srv.TokenFile("boss"), "kid": kid.TokenFile, "root": s.srv.TokenFile("")} {
		c, err := NewClient(Endpoint{URL: url, TokenFile: file})
		require.NoError(t, err)
		st, err := c.Status(t.Context())
		require.NoError(t, err)
		require.Equal(t, id, st.You)
		c.Close()
	}
	token, err := readToken(kid.TokenFile)
	require.NoError(t, err)
	c := &Client{http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, base: url}
	bearer := "Bearer " + token
	for name, try := range map[string]struct {
		status int
		header http.Header
	}{
		"right":               {200, http.Header{"Authorization": {bearer}}},
		"right, other name":   {200, http.Header{"Authorization": {bearer}, "Host": {"box.example:9"}}},
		"none":                {401, nil},
		"wrong":               {401, http.Header{"Authorization": {"Bearer " + strings.Repeat("x", 43)}}},
		"twice":               {401, http.Header{"Authorization": {bearer, bearer}}},
		"another scheme":      {401, http.Header{"Authorization": {"Basic " + token}}},
		"a page":              {403, http.Header{"Authorization": {bearer}, "Origin": {"http://localhost"}}},
		"a rebound name":      {403, http.Header{"Authorization": {bearer}, "Host": {"attacker.test"}}},
		"what a browser adds": {403, http.Header{"Authorization": {bearer}, "Sec-Fetch-Site": {"cross-site"}}},
	} {
		status, body := s.raw(c, "GET", "/v1/status", "", try.header)
		require.Equal(t, try.status, status, "%s: %s", name, body)
	}

	// A token ends with its agent.
	_, err = s.as("").Fire(t.Context(), "kid")
	require.NoError(t, err)
	status, _ := s.raw(c, "GET", "/v1/status", "", http.Header{"Authorization": {bearer}})
	require.Equal(t, 401, status)
	require.NoFileExists(t, kid.TokenFile)
	require.NoFileExists(t, kid.Socket)
}

func TestMalformedRequests(t *testing.T) {
	s := serve(t, private(t), Options{})
	s.hire("boss", "", "trusted")
	for name, try := range map[string]struct {
		method, path, body string
		status             int
	}{
		"unknown key":   {"POST", "/v1/messages", `{"to":"agent:boss:main","content":"x","sender":"operator"}`, 400},
		"a key twice":   {"POST", "/v1/messages", `{"to":"agent:boss:main","to":"agent:x:main","content":"x"}`, 400},
		"no JSON":       {"POST", "/v1/messages", `{"to":`, 400},
		"too large":     {"POST", "/v1/messages", `{"to":"` + strings.Repeat("x", maxBody) + `"}`, 413},
		"no such path":  {"GET", "/v2/agents", "", 404},
		"wrong method":  {"DELETE", "/v1/agents", "", 404},
		"wait is none":  {"GET", "/v1/mailbox?wait=soon", "", 400},
		"a second list": {"POST", "/v1/agents", `{"preset":"trusted","policy":{"name":"p","text":"version: 1"}}`, 400},
		"not its audit": {"GET", "/v1/audit", "", 403},
	} {
		status, body := s.raw(s.as("boss"), try.method, try.path, try.body, nil)
		require.Equal(t, try.status, status, "%s: %s", name, body)
	}
}

// Every code of the broker has a status that says something.
func TestEveryCodeHasAStatus(t *testing.T) {
	declared, err := os.ReadFile("../code.go")
	require.NoError(t, err)
	words := regexp.MustCompile(`access\.Code = "(\w+)"`).FindAllStringSubmatch(string(declared), -1)
	require.Greater(t, len(words), 20)
	for _, word := range append(words, []string{"", string(permission.CodeNoIdentity)}, []string{"", string(permission.CodeCrossSend)}) {
		code := access.Code(word[1])
		status := statusOf(code)
		require.GreaterOrEqual(t, status, 400, code)
		require.NotEqual(t, http.StatusInternalServerError, status, code)
		require.NotEmpty(t, http.StatusText(status), code)
	}
}

// A second server would take the sockets of the first one.
func TestOneServerADirectory(t *testing.T) {
	s := serve(t, private(t), Options{})
	_, err := New(t.Context(), s.b, Options{Dir: s.dir})
	require.ErrorContains(t, err, "another broker serves")
	_, err = s.as("").Status(t.Context())
	require.NoError(t, err, "the first one goes on")
	open := t.TempDir()
	require.NoError(t, os.Chmod(open, 0o755))
	_, err = New(t.Context(), s.b, Options{Dir: open})
	require.ErrorContains(t, err, "can be entered by others")
}

// A directory with a long name has sockets all the same.
func TestLongPaths(t *testing.T) {
	dir := filepath.Join(private(t), strings.Repeat("long", 40))
	require.NoError(t, os.Mkdir(dir, 0o700))
	s := serve(t, dir, Options{})
	id := strings.Repeat("i", 100)
	s.hire(id, "", "trusted")
	st, err := s.as(id).Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, id, st.You)
}
