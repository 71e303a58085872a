package brokerhttp

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
)

// Endpoint says where a broker is: Socket, or URL and TokenFile.
type Endpoint struct {
	Socket    string
	URL       string
	TokenFile string
}

// ErrNoBroker is that nothing says where a broker is.
var ErrNoBroker = errors.New("no broker is named")

// FromEnvironment finds the broker as every client does: by
// PINFOLD_SOCKET, else by PINFOLD_URL and PINFOLD_TOKEN_FILE.
func FromEnvironment(getenv func(string) string) (Endpoint, error) {
	if socket := getenv("PINFOLD_SOCKET"); socket != "" {
		return Endpoint{Socket: socket}, nil
	}
	e := Endpoint{URL: getenv("PINFOLD_URL"), TokenFile: getenv("PINFOLD_TOKEN_FILE")}
	switch {
	case e.URL == "":
		return Endpoint{}, ErrNoBroker
	case e.TokenFile == "":
		return Endpoint{}, errors.New("PINFOLD_URL is set and PINFOLD_TOKEN_FILE is not")
	}
	return e, nil
}

// Client talks to a broker as whom the socket or token stands for. It is safe
// for use by many goroutines.
type Client struct {
	http  *http.Client
	base  string
	token string
	met   atomic.Bool // somebody has answered

	only *http.ClientConn // all that there will ever be; nil: it connects anew
}

// NewClient makes a client. It connects when it is first used.
func NewClient(e Endpoint) (*Client, error) {
	c := &Client{http: &http.Client{}, base: "http://broker"}
	if e.Socket != "" {
		c.http.Transport = &http.Transport{DialContext: dialer(e.Socket), MaxIdleConns: 2, IdleConnTimeout: time.Minute}
		return c, nil
	}
	u, err := url.Parse(e.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
		return nil, fmt.Errorf("the broker's URL %q is none: want http://HOST:PORT", e.URL)
	}
	if c.token, err = readToken(e.TokenFile); err != nil {
		return nil, err
	}
	c.base = u.Scheme + "://" + u.Host
	c.http.Transport = &http.Transport{IdleConnTimeout: time.Minute} // by no proxy: the token is for the broker
	return c, nil
}

func dialer(socket string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		name, done, err := shortName(socket)
		if err != nil {
			return nil, err
		}
		defer done()
		var d net.Dialer
		return d.DialContext(ctx, "unix", name)
	}
}

// Close closes connections that are not in use, and the one of NewConnClient.
func (c *Client) Close() {
	if c.only != nil {
		_ = c.only.Close() // nothing is owed any more
		return
	}
	c.http.CloseIdleConnections()
}

// over says whether this client will never reach the broker again.
func (c *Client) over() bool { return c.only != nil && c.only.Err() != nil }

// UnreachableError is that nobody answered. Nothing is known of what was asked for.
type UnreachableError struct{ Err error }

func (e *UnreachableError) Error() string { return "the broker does not answer: " + e.Err.Error() }

// Unwrap returns Err.
func (e *UnreachableError) Unwrap() error { return e.Err }

// maxAnswer bounds the bytes of an answer that a client reads.
const maxAnswer = 64 << 20

// do sends in, unless it is nil, and decodes the answer into out. A refusal is
// a *broker.Error.
func (c *Client) do(ctx context.Context, method, path string, in, out any) error {
	resp, err := c.send(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := stdjson.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(out); err != nil {
		return &UnreachableError{err}
	}
	return nil
}

// send returns an answer that is no refusal. The caller closes its body.
func (c *Client) send(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		data, err := stdjson.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // its text has a URL that nobody knows
		}
		return nil, &UnreachableError{err}
	}
	c.met.Store(true)
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	var refused errorBody
	data, _ := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if stdjson.Unmarshal(data, &refused) != nil || refused.Error.Code == "" {
		return nil, &UnreachableError{fmt.Errorf("it says %s", resp.Status)}
	}
	return nil, &broker.Error{Code: refused.Error.Code, Message: refused.Error.Message}
}

// waitFor is what a client asks for in one long poll, below the server's own
// bound.
const waitFor = "wait=45s"

// A client that waits gives a broker that is away, such as one that is started
// again, this long, and asks this often; one that the caller asks too much, less.
const (
	awayFor    = 2 * time.Minute
	retryAfter = 200 * time.Millisecond
	retryBusy  = 5 * time.Second
)

// poll asks until the answer is what is waited for, and goes on where the
// broker was started again in between. It ends with ctx.
func poll[T any](ctx context.Context, c *Client, path string, done func(T) bool) (answer T, err error) {
	err = c.outlast(ctx, func() (bool, error) {
		var next T // nothing of an earlier answer
		err := c.do(ctx, http.MethodGet, path, nil, &next)
		answer = next
		return err == nil && done(next), err
	})
	return answer, err
}

// outlast calls try until it is done, or has failed otherwise than by a broker
// that may come back. A wait that has begun also outlasts a time in which the
// caller asks too much otherwise: it is the long poll that has to be made again.
func (c *Client) outlast(ctx context.Context, try func() (done bool, err error)) error {
	var lost time.Time // since when nobody answers
	for begun := false; ; {
		done, err := try()
		pause := retryAfter
		switch {
		case err == nil && done:
			return nil
		case err == nil:
			lost, begun = time.Time{}, true
			continue
		case ctx.Err() != nil:
			return ctx.Err()
		case begun && tooMuch(err):
			pause = retryBusy
		case !away(err) || c.over() || !c.met.Load() && notThere(err):
			return err
		}
		if lost.IsZero() {
			lost = time.Now()
		}
		if time.Since(lost) > awayFor {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// away says whether an error may pass when the broker is back.
func away(err error) bool {
	var unreachable *UnreachableError
	var refused *broker.Error
	return errors.As(err, &unreachable) || errors.As(err, &refused) && refused.Code == broker.CodeUnavailable
}

// tooMuch says whether a bound of what one caller may do was reached.
func tooMuch(err error) bool {
	var refused *broker.Error
	return errors.As(err, &refused) && (refused.Code == broker.CodeRateLimited || refused.Code == broker.CodeTooMany)
}

// notThere says whether there was nobody to connect to.
func notThere(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
