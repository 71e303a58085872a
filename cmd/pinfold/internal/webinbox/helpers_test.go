//go:build linux

package webinbox

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/broker/sqlitestore"
	"github.com/pinfold-dev/pinfold/permission"
)

// patience is how long the tests wait for what must come: on a machine however
// busy.
const patience = 2 * time.Minute

// asking may ask to write src.
const asking = "version: 1\nextends: sandboxed\nfs: {write: [docs], ask_write: [src]}\n"

// managing may ask for src too, and hire.
const managing = "version: 1\nextends: trusted\nfs: {ask_write: [src]}\n"

// world is a broker on a real database, and its page.
type world struct {
	*testing.T
	dir     string
	b       *broker.Broker
	srv     *Server
	propose func(context.Context, broker.Identity, string) (brokerhttp.Proposal, error)
	files   fs.FS // of the page; nil is its own
	log     *logBuffer
	halt    func()
}

func newWorld(t *testing.T) *world { return newWorldOf(t, nil) }

// newWorldOf is one whose page is of other files.
func newWorldOf(t *testing.T, page fs.FS) *world {
	w := &world{T: t, dir: filepath.Join(t.TempDir(), "state"), files: page, log: &logBuffer{}}
	require.NoError(t, os.Mkdir(w.dir, 0o700))
	w.start("127.0.0.1:0")
	t.Cleanup(func() { w.halt() })
	return w
}

// start serves; the page is at address, or where its last sessions are from.
func (w *world) start(address string) {
	w.Helper()
	store, err := sqlitestore.Open(w.Context(), filepath.Join(w.dir, "broker.db"))
	require.NoError(w, err)
	w.b, err = broker.New(w.Context(), broker.Options{Store: store})
	require.NoError(w, err)
	l, err := Listen(w.Context(), w.dir, address)
	require.NoError(w, err)
	w.srv, err = New(l, Options{Broker: w.b, Dir: w.dir, files: w.files, Logger: newTestLogger(w.log), Propose: func(ctx context.Context, who broker.Identity, id string) (brokerhttp.Proposal, error) {
		if w.propose == nil {
			return brokerhttp.Proposal{Note: "no diff in this test"}, nil
		}
		return w.propose(ctx, who, id)
	}})
	require.NoError(w, err)
	served := make(chan error, 1)
	go func() { served <- w.srv.Serve() }()
	w.halt = sync.OnceFunc(func() {
		require.NoError(w, w.srv.Close())
		require.NoError(w, <-served)
		w.b.Close()
		require.NoError(w, store.Close())
	})
}

// restart is another process in the place of this one, on the same port.
func (w *world) restart() {
	w.halt()
	w.start("")
}

// hire registers an agent under the operator.
func (w *world) hire(id, task string) broker.Identity {
	w.Helper()
	return w.hireUnder(operator, id, task, asking)
}

func (w *world) hireUnder(who broker.Identity, id, task, doc string) broker.Identity {
	w.Helper()
	src, err := permission.Decode("p.yaml", []byte(doc))
	require.NoError(w, err)
	p, err := permission.Compile(src, permission.Options{Root: "/project"})
	require.NoError(w, err)
	_, _, err = w.b.Hire(w.Context(), who, broker.HireSpec{ID: id, Policy: p, OnExcess: permission.Clamp, Cwd: "/project", Task: task})
	require.NoError(w, err)
	return broker.AgentIdentity(id)
}

// ask leaves a pending request to write a place.
func (w *world) ask(who broker.Identity, place, reason string) broker.Request {
	w.Helper()
	return w.askWith(who, place, reason, `{"path": "`+place+`", "content": "x\n"}`)
}

func (w *world) askWith(who broker.Identity, place, reason, input string) broker.Request {
	w.Helper()
	call := askFor(place)
	call.Input, call.Reason = []byte(input), reason
	r, err := w.b.Ask(w.Context(), who, call)
	require.NoError(w, err)
	require.Equal(w, broker.Pending, r.Status)
	return r
}

// askFor is a call that writes a place.
func askFor(place string) access.Request {
	return access.Request{Action: access.FSWrite, Resource: place, Tool: "write_file", MayBlock: true,
		Input: []byte(`{"path": "` + place + `", "content": "x\n"}`), Reason: "the manual says so",
	}
}

// status is where a request stands.
func (w *world) status(id string) broker.Request {
	w.Helper()
	r, err := w.b.Request(w.Context(), operator, id)
	require.NoError(w, err)
	return r
}

// origin is the page's, and host what is behind its slashes.
func (w *world) origin() string { return "http://" + w.host() }
func (w *world) host() string   { return w.srv.sessions.addr.String() }

// token is the one of the link that works now.
func (w *world) token() string {
	_, token, found := strings.Cut(w.srv.Link(), "#")
	require.True(w, found)
	return token
}

// caller is a program that speaks to the page's server: a browser, or what
// pretends to be one.
type caller struct {
	w      *world
	cookie *http.Cookie
	key    string
	header http.Header // that replaces what a browser would send
}

// enter lets a caller in by the link.
func (w *world) enter() *caller {
	w.Helper()
	c := &caller{w: w}
	status, _, header := c.do(http.MethodPost, "/api/enter", `{"token": "`+w.token()+`"}`)
	require.Equal(w, http.StatusOK, status)
	require.Len(w, header.Values("Set-Cookie"), 1)
	var err error
	c.cookie, err = http.ParseSetCookie(header.Get("Set-Cookie"))
	require.NoError(w, err)
	return c
}

// do sends a request as the page would, but for what c.header says.
func (c *caller) do(method, path, body string) (status int, answer string, header http.Header) {
	c.w.Helper()
	ctx, cancel := context.WithTimeout(c.w.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.w.origin()+path, bytes.NewReader([]byte(body)))
	require.NoError(c.w, err)
	if c.cookie != nil {
		req.AddCookie(c.cookie)
	}
	if c.key != "" {
		req.Header.Set(keyHeader, c.key)
	}
	if method != http.MethodGet {
		req.Header.Set("Origin", c.w.origin())
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range c.header {
		if name == "Host" {
			req.Host = values[0]
			continue
		}
		req.Header[name] = values
	}
	// No keep-alive: nothing is left when the test ends.
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	require.NoError(c.w, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(c.w, err)
	if path == "/api/enter" && resp.StatusCode == http.StatusOK {
		c.key = strings.TrimSuffix(strings.TrimPrefix(string(data), `{"key":"`), "\"}\n")
	}
	return resp.StatusCode, string(data), resp.Header
}

// logBuffer collects what is logged.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func newTestLogger(b *logBuffer) *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }

func mustURL(t *testing.T, path string) *url.URL {
	t.Helper()
	u, err := url.Parse("http://127.0.0.1/")
	require.NoError(t, err)
	u.Path = path
	return u
}
