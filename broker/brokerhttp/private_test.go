//go:build linux

package brokerhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// hireWithView hires the agent kid with a command, and returns a client that has the
// other half of a private connection, and the broker's half.
func hireWithView(t *testing.T) (s *served, c *Client, half net.Conn) {
	t.Helper()
	var launched Launch
	s = serve(t, private(t), Options{Launch: func(_ context.Context, l Launch) error { launched = l; return nil }})
	s.hire("boss", "", "trusted")
	_, err := s.as("boss").Hire(t.Context(), HireBody{ID: "kid", Policy: &Text{Name: "p.yaml", Text: asking}, Command: []string{"true"}})
	require.NoError(t, err)
	half, theirs := connPair(t)
	launched.Serve(half)
	c, err = NewConnClient(theirs)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return s, c, half
}

// connPair are two halves of a connection, as a process and its child have them.
func connPair(t *testing.T) (one, other net.Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	var ends [2]net.Conn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "half")
		ends[i], err = net.FileConn(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	return ends[0], ends[1]
}

// A private connection is the agent that it was made for, which has no rights by
// having it but its own. Nothing is taken for true of who is at its other end.
func TestPrivateConnectionIsItsAgent(t *testing.T) {
	s, kid, _ := hireWithView(t)
	seen, err := kid.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, "kid", seen.You)
	r, err := kid.Ask(t.Context(), wantSrc)
	require.NoError(t, err)
	_, err = kid.Approve(t.Context(), r.ID, ApproveBody{})
	require.ErrorContains(t, err, "Only the agent's manager can approve")
	status, body := s.raw(kid, http.MethodPost, "/approve/"+r.ID, `{"caller_id":"boss"}`, http.Header{"Authorization": {"Bearer boss"}})
	require.Equal(t, http.StatusForbidden, status, body)

	// The kernel names this process as the other end's: it made both.
	_, err = kid.Hire(t.Context(), HireBody{ID: "grandkid", Follow: true})
	require.ErrorContains(t, err, "over a socket")

	_, err = s.as("").Fire(t.Context(), "kid")
	require.NoError(t, err)
	d, err := kid.Decide(t.Context(), DecideBody{Action: access.FSWrite, Resource: "docs/a"})
	require.NoError(t, err)
	require.False(t, d.Allowed(), "who was fired is nobody, also where a connection is left")
}

// More opens wait over it than a socket has connections. Each ends by itself.
func TestPrivateConnectionCarriesManyWaits(t *testing.T) {
	const opens = maxConnections + 20
	s, kid, _ := hireWithView(t)
	events := make(chan struct{}, 1)
	watching, unwatch := context.WithCancel(t.Context())
	watched := make(chan error, 1)
	go func() {
		watched <- kid.Watch(watching, func() {
			select {
			case events <- struct{}{}:
			default:
			}
		})
	}()
	<-events

	killed, kill := context.WithCancel(t.Context())
	answers := make(chan error, opens)
	for i := range opens {
		ctx := t.Context()
		if i == 0 {
			ctx = killed
		}
		go func() {
			d, err := kid.DecideWaiting(ctx, DecideBody{Action: access.FSWrite, Resource: fmt.Sprintf("src/%d", i)})
			if err == nil && !d.Allowed() {
				err = errors.New(d.Reason)
			}
			answers <- err
		}()
	}
	require.Eventually(t, func() bool { return s.waits("kid") == opens }, time.Minute, 5*time.Millisecond, "all wait")
	kill()
	require.ErrorIs(t, <-answers, context.Canceled)
	require.Eventually(t, func() bool { return s.waits("kid") == opens-1 }, time.Minute, 5*time.Millisecond, "nobody waits for whoever was killed")

	boss := s.as("boss")
	rows, err := boss.Requests(t.Context())
	require.NoError(t, err)
	for _, r := range rows {
		if r.Resource == "src/0" {
			continue
		}
		_, err = boss.Approve(t.Context(), r.ID, ApproveBody{})
		require.NoError(t, err)
	}
	for range opens - 1 {
		require.NoError(t, <-answers)
	}
	<-events
	unwatch()
	require.ErrorIs(t, <-watched, context.Canceled)
	d, err := kid.Decide(t.Context(), DecideBody{Action: access.FSWrite, Resource: "src/1"})
	require.NoError(t, err)
	require.Equal(t, pathresolver.RuleAsk, d.Code, "leave for one time was used up")
}

// Where the broker ends nobody waits for it to come back: it cannot.
func TestPrivateConnectionEnds(t *testing.T) {
	question := DecideBody{Action: access.FSWrite, Resource: "src/a"}
	for name, end := range map[string]func(*served, net.Conn){
		"half":   func(_ *served, half net.Conn) { _ = half.Close() },
		"server": func(s *served, _ net.Conn) { s.end() },
	} {
		t.Run(name, func(t *testing.T) {
			s, kid, half := hireWithView(t)
			answer := make(chan error, 1)
			go func() {
				_, err := kid.DecideWaiting(t.Context(), question)
				answer <- err
			}()
			require.Eventually(t, func() bool { return s.waits("kid") == 1 }, time.Minute, 5*time.Millisecond, "it waits")
			began := time.Now()
			end(s, half)
			require.Error(t, <-answer)
			_, err := kid.DecideWaiting(t.Context(), question)
			require.ErrorAs(t, err, new(*UnreachableError))
			require.Less(t, time.Since(began), awayFor/2)
		})
	}
}

// A connection that comes when the server has ended is closed.
func TestPrivateConnectionTooLate(t *testing.T) {
	s, _, _ := hireWithView(t)
	s.end()
	half, theirs := connPair(t)
	s.srv.ServeConn(half, "kid")
	_, err := theirs.Read(make([]byte, 1))
	require.Error(t, err)
	require.NoError(t, theirs.Close())
	require.ErrorIs(t, half.SetDeadline(time.Time{}), net.ErrClosed)
}

// An agent's own socket, which its processes reach, speaks HTTP/1 alone: what one
// connection may carry is bounded by that.
func TestOnlyPrivateConnectionsCarryMany(t *testing.T) {
	s := serve(t, private(t), Options{})
	kid := s.hire("kid", "", "")
	conn, err := dialer(kid.Socket)(t.Context(), "", "")
	require.NoError(t, err)
	c, err := NewConnClient(conn)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	_, err = c.Status(t.Context())
	require.Error(t, err)
	require.False(t, errors.As(err, new(*broker.Error)), "%v", err)
}

// Where the operator has turned HTTP/2 off nothing runs that could not ask, and the
// error says why.
func TestPrivateConnectionWithoutHTTP2(t *testing.T) {
	for _, setting := range []string{"http2client=0", "http2server=0"} {
		t.Setenv("GODEBUG", "http2debug=0,"+setting)
		half, theirs := connPair(t)
		_, err := NewConnClient(theirs)
		require.ErrorContains(t, err, "GODEBUG has "+setting)
		_, err = half.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.NoError(t, half.Close())
	}
	for _, on := range []string{"", "http2client=1", "http2client=0,http2client=1", "xhttp2client=0", "http2server=01"} {
		require.Empty(t, http2Off(on), on)
	}
}

// A client's broker answers on a connection that is forwarded, as to the client, also
// what waits; where the broker is away the connection stays, and says so.
func TestForwarded(t *testing.T) {
	s := serve(t, private(t), Options{})
	s.hire("boss", "", "trusted")
	_, err := s.as("boss").Hire(t.Context(), HireBody{ID: "kid", Policy: &Text{Name: "p.yaml", Text: asking}})
	require.NoError(t, err)
	own := s.as("kid")
	ours, theirs := connPair(t)
	own.Forward(ours)
	c, err := NewConnClient(theirs)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	seen, err := c.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, "kid", seen.You)
	looked := make(chan struct{}, 100) // more often than anything changes here
	watching, unwatch := context.WithCancel(t.Context())
	watched := make(chan error, 1)
	go func() { watched <- c.Watch(watching, func() { looked <- struct{}{} }) }()
	<-looked
	answer := make(chan error, 1)
	go func() {
		d, err := c.DecideWaiting(t.Context(), wantSrc)
		if err == nil && !d.Allowed() {
			err = errors.New(d.Reason)
		}
		answer <- err
	}()
	require.Eventually(t, func() bool { return s.waits("kid") == 1 }, time.Minute, 5*time.Millisecond)
	rows, err := s.as("boss").Requests(t.Context())
	require.NoError(t, err)
	_, err = s.as("boss").Approve(t.Context(), rows[0].ID, ApproveBody{})
	require.NoError(t, err)
	require.NoError(t, <-answer)
	unwatch()
	require.ErrorIs(t, <-watched, context.Canceled)

	require.NoError(t, s.srv.Close())
	_, err = c.Decide(t.Context(), wantSrc)
	var refused *broker.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, broker.CodeUnavailable, refused.Code)
	require.NoError(t, ours.Close())
	_, err = c.Decide(t.Context(), wantSrc)
	require.ErrorAs(t, err, new(*UnreachableError))
}
