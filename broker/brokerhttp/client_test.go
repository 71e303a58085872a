//go:build linux

package brokerhttp

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// D31: a client finds its broker by PINFOLD_SOCKET, else by PINFOLD_URL and
// PINFOLD_TOKEN_FILE, and is whom that stands for.
func TestFindsTheBroker(t *testing.T) {
	s := serve(t, private(t), Options{})
	s.hire("boss", "", "trusted")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, s.srv.ListenTCP(t.Context(), l))
	kid := s.hire("kid", "boss", "")
	url := "http://" + l.Addr().String()

	wrong := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(wrong, []byte(strings.Repeat("x", 43)+"\n"), 0o600))
	for name, try := range map[string]struct {
		env map[string]string
		you string // or else
		err string
	}{
		"a socket":            {env: map[string]string{"PINFOLD_SOCKET": AgentSocket(s.dir, "boss")}, you: "boss"},
		"a token":             {env: map[string]string{"PINFOLD_URL": url, "PINFOLD_TOKEN_FILE": kid.TokenFile}, you: "kid"},
		"the socket is first": {env: map[string]string{"PINFOLD_SOCKET": AgentSocket(s.dir, "boss"), "PINFOLD_URL": url, "PINFOLD_TOKEN_FILE": kid.TokenFile}, you: "boss"},
		"nothing":             {err: "no broker is named"},
		"no token":            {env: map[string]string{"PINFOLD_URL": url}, err: "PINFOLD_TOKEN_FILE is not"},
		"a wrong token":       {env: map[string]string{"PINFOLD_URL": url, "PINFOLD_TOKEN_FILE": wrong}, err: "no identity"},
		"no such token":       {env: map[string]string{"PINFOLD_URL": url, "PINFOLD_TOKEN_FILE": wrong + "x"}, err: "no such file"},
		"no URL":              {env: map[string]string{"PINFOLD_URL": "localhost", "PINFOLD_TOKEN_FILE": kid.TokenFile}, err: "want http://HOST:PORT"},
	} {
		t.Run(name, func(t *testing.T) {
			at, err := FromEnvironment(func(name string) string { return try.env[name] })
			var you string
			if err == nil {
				var c *Client
				if c, err = NewClient(at); err == nil {
					defer c.Close()
					st, e := c.Status(t.Context())
					you, err = st.You, e
				}
			}
			if try.err != "" {
				require.ErrorContains(t, err, try.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, try.you, you)
		})
	}
}

// answers is a broker of which only the answers are there, one after the other: a
// status and a body.
type answers []func() (status int, body io.ReadCloser)

func (a *answers) RoundTrip(*http.Request) (*http.Response, error) {
	status, body := (*a)[0]()
	*a = (*a)[1:]
	return &http.Response{StatusCode: status, Body: body}, nil
}

func says(status int, body string) func() (int, io.ReadCloser) {
	return func() (int, io.ReadCloser) { return status, io.NopCloser(strings.NewReader(body)) }
}

func clientOf(a answers) *Client {
	return &Client{http: &http.Client{Transport: &a}, base: "http://broker"}
}

// A wait goes on where its agent has asked too much meanwhile, and does not begin
// then.
func TestWaitOutlastsTooMuch(t *testing.T) {
	pending, approved := says(http.StatusOK, `{"status":"pending"}`), says(http.StatusOK, `{"status":"approved"}`)
	often := says(http.StatusTooManyRequests, `{"error":{"code":"rate_limited","message":"too many requests"}}`)
	many := says(http.StatusTooManyRequests, `{"error":{"code":"too_many","message":"200 calls wait already"}}`)
	no := says(http.StatusForbidden, `{"error":{"code":"no_agent","message":"it was fired"}}`)
	synctest.Test(t, func(t *testing.T) {
		r, err := clientOf(answers{pending, often, many, pending, often, approved}).Wait(t.Context(), "r")
		require.NoError(t, err)
		require.Equal(t, broker.Approved, r.Status)
		_, err = clientOf(answers{often}).Wait(t.Context(), "r")
		require.ErrorContains(t, err, "too many requests")
		_, err = clientOf(answers{pending, no}).Wait(t.Context(), "r")
		require.ErrorContains(t, err, "it was fired")
		ever := answers{pending}
		for range int(awayFor/retryBusy) + 2 {
			ever = append(ever, often)
		}
		_, err = clientOf(ever).Wait(t.Context(), "r")
		require.ErrorContains(t, err, "too many requests", "it is no wait without end")
	})
}

// However much changes while somebody looks, it is looked at once more, and not
// after the watch was ended.
func TestWatchLooksOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, events := io.Pipe()
		stream := func() (int, io.ReadCloser) { return http.StatusOK, body }
		looks, looking, heard := 0, make(chan struct{}), make(chan struct{})
		go func() {
			for i := range 1000 {
				_, _ = io.WriteString(events, "event: change\ndata: {}\n\n") // once it is read
				if i == 0 {
					<-looking
				}
			}
			close(heard)
			_ = events.Close()
		}()
		err := clientOf(answers{stream}).Watch(t.Context(), func() {
			if looks++; looks == 1 {
				close(looking)
			}
			<-heard
			synctest.Wait() // the last one is more than read: it is noted
		})
		require.ErrorContains(t, err, "the stream of events has ended")
		require.Equal(t, 2, looks)
	})
	synctest.Test(t, func(t *testing.T) {
		stream := says(http.StatusOK, strings.Repeat("event: change\ndata: {}\n\n", 9))
		ctx, stop := context.WithCancel(t.Context())
		require.ErrorIs(t, clientOf(answers{stream}).Watch(ctx, func() {
			require.NoError(t, ctx.Err())
			synctest.Wait() // all is heard
			stop()
		}), context.Canceled)
	})
}
