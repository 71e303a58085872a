//go:build linux

package brokerhttp

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

// recorded is the audit after a record.
func (s *served) recorded(after int64) (list []broker.Record) {
	s.t.Helper()
	list, err := s.b.Records(s.t.Context(), broker.OperatorIdentity(), broker.RecordFilter{AfterSeq: after})
	require.NoError(s.t, err)
	return list
}

func (s *served) head() int64 {
	s.t.Helper()
	h, err := s.b.Head(s.t.Context(), broker.OperatorIdentity())
	require.NoError(s.t, err)
	return h.Seq
}

// ask is a request of kid's that is pending.
func (s *served) ask(id, file string) broker.Request {
	s.t.Helper()
	r, err := s.as(id).Ask(s.t.Context(), DecideBody{Action: access.FSWrite, Resource: "src/" + file})
	require.NoError(s.t, err)
	require.Equal(s.t, broker.Pending, r.Status)
	return r
}

// M10, D19, D21, D32: who pretends to be another, or answers for another, is
// refused, and the audit says who tried what. Beside each stands the same, done
// by whom it is for.
func TestForgeriesAreRecorded(t *testing.T) {
	s := serve(t, private(t), Options{})
	s.hire("boss", "", "trusted")
	s.hire("kid", "boss", "")
	s.hire("below", "kid", "")
	s.hire("stranger", "", "trusted")
	own, below, of := s.ask("kid", "own"), s.ask("below", "below"), s.ask("kid", "of")
	changed := s.ask("kid", "changed")
	hire := func(extra string) string { return `{"task":"t","preset":"sandboxed"` + extra + `}` }
	const hello = `{"to":"agent:boss:main","content":"hello"`
	nowhere := "00000000-0000-7000-8000-000000000000"

	for _, f := range []struct {
		what               string
		who                string // whose socket
		method, path, body string
		status             int
		code               access.Code
		action             string // in the audit
	}{
		{"names another as the sender", "kid", "POST", "/v1/messages", hello + `,"sender_id":"operator"}`, 400, broker.CodeInvalid, "request"},
		{"says nothing of the sender", "kid", "POST", "/v1/messages", hello + `}`, 200, "", ""},
		{"names another as the caller", "stranger", "POST", "/approve/" + own.ID, `{"caller_id":"boss"}`, 403, broker.CodeNotManager, "approve"},
		{"names another as the parent", "stranger", "POST", "/v1/agents", hire(`,"parent":"boss"`), 403, broker.CodeOperatorOnly, "hire"},
		{"names itself as the parent", "stranger", "POST", "/v1/agents", hire(`,"parent":"stranger"`), 200, "", ""},
		{"brings its own rights", "stranger", "POST", "/v1/agents", hire(`,"parent_permissions":{}`), 400, broker.CodeInvalid, "request"},
		{"approves its own", "kid", "POST", "/approve/" + own.ID, "", 403, broker.CodeNotManager, "approve"},
		{"approves a stranger's", "stranger", "POST", "/approve/" + own.ID, "", 403, broker.CodeNotManager, "approve"},
		{"denies a stranger's", "stranger", "POST", "/deny/" + own.ID, "", 403, broker.CodeNotManager, "deny"},
		{"approves one further down", "boss", "POST", "/approve/" + below.ID, "", 403, broker.CodeNotManager, "approve"},
		{"approves what it may not itself", "kid", "POST", "/approve/" + below.ID, "", 403, "approver_lacks_permission", "approve"},
		{"approves with what it read of another", "boss", "POST", "/approve/" + changed.ID, `{"digest":"` + own.Digest + `"}`, 409, broker.CodeMismatch, "approve"},
		{"approves what it read", "boss", "POST", "/approve/" + changed.ID, `{"digest":"` + changed.Digest + `"}`, 200, "", ""},
		{"approves", "boss", "POST", "/approve/" + of.ID, "", 200, "", ""},
		{"guesses an id to approve", "stranger", "POST", "/approve/" + nowhere, "", 404, broker.CodeNotFound, "approve"},
		{"guesses an id to read", "stranger", "GET", "/v1/requests/" + nowhere + "?wait=9s", "", 404, broker.CodeNotFound, "wait"},
		{"reads another's request", "stranger", "GET", "/v1/requests/" + own.ID + "?wait=9s", "", 404, broker.CodeNotFound, "wait"},
		{"reads its own", "kid", "GET", "/v1/requests/" + of.ID, "", 200, "", ""},
		{"reads another's agent", "stranger", "GET", "/v1/agents/kid", "", 404, broker.CodeNotFound, "look"},
		{"reads its child", "boss", "GET", "/v1/agents/kid", "", 200, "", ""},
		{"reads another's answer", "stranger", "GET", "/v1/messages/" + nowhere + "/answer", "", 404, broker.CodeNotFound, "await"},
		{"waits for another's agent", "stranger", "GET", "/v1/agents/kid/await?wait=9s", "", 404, broker.CodeNotFound, "await"},
		{"reads another's send list", "stranger", "GET", "/v1/agents/kid/cross", "", 404, broker.CodeNotFound, "cross"},
		{"widens its own send list", "kid", "POST", "/v1/agents/kid/cross", `{"change":"mode","value":"bypass"}`, 404, broker.CodeNotFound, "cross"},
		{"fires its manager", "kid", "POST", "/v1/agents/boss/fire", "", 403, "tool_disabled", string(access.AgentDestroy)},
	} {
		t.Run(f.what, func(t *testing.T) {
			before := s.head()
			status, body := s.raw(s.as(f.who), f.method, f.path, f.body, nil)
			require.Equal(t, f.status, status, body)
			if f.status == 200 {
				return
			}
			require.Contains(t, body, string(f.code))
			list := s.recorded(before)
			if f.code == "approver_lacks_permission" { // and what became of the request
				require.Len(t, list, 2)
				require.Equal(t, access.Code(broker.Denied), list[1].Code)
				list = list[:1]
			}
			require.Len(t, list, 1, "one attempt, one record: %v", list)
			r := list[0]
			require.Equal(t, []any{f.who, f.action, access.Deny, f.code}, []any{r.Principal, r.Action, r.Effect, r.Code})
		})
	}

	// What was approved was this request and no other (D6).
	mine := access.Request{Action: access.FSWrite, Resource: "src/of", MayBlock: false}
	other := mine
	other.Input = []byte(`{"content":"something else"}`)
	before := s.head()
	require.False(t, s.b.Gate(broker.AgentIdentity("kid")).Check(t.Context(), other).Allowed())
	require.Equal(t, access.Ask, s.recorded(before)[0].Effect)
	_, err := s.b.Verify(t.Context(), broker.OperatorIdentity(), broker.Head{})
	require.NoError(t, err)
}

// D32: connections that are not whose socket or token they come with are in
// the audit before they are answered, and no more of them than their bound.
func TestStrangersAreRecorded(t *testing.T) {
	s := serve(t, private(t), Options{Launch: func(context.Context, Launch) error { return nil }})
	s.hire("boss", "", "trusted")
	last := func(through, says string) {
		t.Helper()
		list := s.recorded(0)
		r := list[len(list)-1]
		require.Equal(t, []string{"", "connect", through}, []string{r.Principal, r.Action, r.Resource})
		require.Equal(t, access.Deny, r.Effect)
		require.Contains(t, r.Reason, says)
	}
	root := AgentSocket(s.dir, "boss")
	require.Equal(t, "you are boss", stranger(t, root, nil))
	elsewhere := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if os.Geteuid() != 0 {
		elsewhere.Cloneflags |= syscall.CLONE_NEWUSER
		elsewhere.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	}
	require.Contains(t, stranger(t, root, elsewhere), "another process namespace")
	last("socket of boss", "another process namespace")
	if os.Geteuid() == 0 { // only root can be another
		for dir := filepath.Dir(root); dir != "/"; dir = filepath.Dir(dir) {
			require.NoError(t, os.Chmod(dir, 0o777))
			if dir == os.TempDir() {
				break
			}
		}
		require.NoError(t, os.Chmod(root, 0o777))
		nobody := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		require.Contains(t, stranger(t, root, nobody), "user 65534 connected")
		last("socket of boss", "user 65534 connected")
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, s.srv.ListenTCP(t.Context(), l))
	c := &Client{http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, base: "http://" + l.Addr().String()}
	status, _ := s.raw(c, "GET", "/v1/status", "", http.Header{"Authorization": {"Bearer " + strings.Repeat("x", 43)}})
	require.Equal(t, 401, status)
	last("tcp", "no identity")
	status, _ = s.raw(c, "GET", "/v1/status", "", http.Header{"Origin": {"http://localhost"}})
	require.Equal(t, 403, status)
	last("tcp", "web pages")
	after := s.head()

	// No flood of strangers fills the disk.
	refused := 0
	for range 700 {
		if err := s.b.Refused(t.Context(), broker.Identity{}, "connect", "tcp", errNobody); err != nil {
			refused++
		}
	}
	require.Positive(t, refused)
	require.Equal(t, int64(700-refused), s.head()-after)
}

// D6: what an agent writes into a request is text for whoever reads it, over
// HTTP too, and in the audit.
func TestEscapesOfAgentsStayText(t *testing.T) {
	s := serve(t, private(t), Options{})
	s.hire("boss", "", "trusted")
	s.hire("kid", "boss", "")
	r, err := s.as("kid").Ask(t.Context(), DecideBody{Action: access.FSWrite, Resource: "src/\x1b[2J\u202ea", Reason: "\x1b]0;owned\a"})
	require.NoError(t, err)
	box, err := s.as("boss").Mailbox(t.Context(), true)
	require.NoError(t, err)
	require.Contains(t, box[0].Content, r.ID)
	for _, c := range box[0].Content + r.Reason {
		require.True(t, c == '\n' || unicode.IsPrint(c), "%q", c)
	}
	asked := 0
	for _, record := range s.recorded(0) {
		if record.Action == "ask" && record.RequestID == r.ID {
			asked++
		}
	}
	require.Equal(t, 1, asked)
	long, err := s.as("kid").Ask(t.Context(), DecideBody{Action: access.FSWrite, Resource: "src/" + strings.Repeat("x", 5000)})
	require.ErrorContains(t, err, "at most 4096 bytes", fmt.Sprint(long.ID))
}
