package brokerhttp

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"

	"github.com/pinfold-dev/pinfold/broker"
)

// A private connection is one half of a pair that this process has made; it gives
// the other half to one process and to nobody else. So the connection says who asks.
// It cannot be made a second time, and carries many requests at once: HTTP/2
// without TLS, which no other connection speaks.

// maxStreams is how many requests a private connection carries at once: more than
// the broker lets one agent wait with.
const maxStreams = 256

// overHTTP2 has a server or a client speak HTTP/2 without TLS and nothing else.
func overHTTP2() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}

// ServeConn answers on c as to an agent, until either side closes it. It returns at once;
// a server that is ending closes c. Its other half is for the process that serves the
// agent's view (NewConnClient): whoever holds it is the agent.
func (s *Server) ServeConn(c net.Conn, agent string) {
	_ = s.private.Serve(only(&identified{Conn: c, who: broker.AgentIdentity(agent), private: true})) // ends when it is accepted
}

// Forward answers on conn what the broker answers c, until either side closes it. It
// returns at once. The other half is for a process that is to reach no broker by itself
// (NewConnClient). Whoever holds it is whom c stands for.
func (c *Client) Forward(conn net.Conn) {
	to, _ := url.Parse(c.base) // NewClient has made it
	s := &http.Server{Protocols: overHTTP2(), HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxStreams}, Handler: &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			if c.token != "" {
				r.Out.Header.Set("Authorization", "Bearer "+c.token)
			}
		},
		Transport:     c.http.Transport,
		FlushInterval: -1, // events are due when they are said
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			writeError(w, fault(broker.CodeUnavailable, "%s", (&UnreachableError{err}).Error()))
		},
	}}
	_ = s.Serve(only(conn)) // ends when it is accepted
}

// onlyConn is a listener with one connection, and no other to come.
type onlyConn chan net.Conn

func only(c net.Conn) onlyConn {
	one := make(onlyConn, 1)
	one <- c
	return one
}

func (l onlyConn) Accept() (net.Conn, error) {
	select {
	case c := <-l:
		return c, nil
	default:
		return nil, io.EOF
	}
}

// Close closes the connection unless it was accepted.
func (l onlyConn) Close() error {
	c, err := l.Accept()
	if err != nil {
		return nil
	}
	return c.Close()
}

func (onlyConn) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// NewConnClient is a client over conn, whose other half was given to ServeConn, Launch.Serve or Forward.
// It owns conn, and connects to nothing else: once conn has ended, every call fails,
// and none waits for a broker to come back.
func NewConnClient(conn net.Conn) (*Client, error) {
	if off := http2Off(os.Getenv("GODEBUG")); off != "" {
		_ = conn.Close()
		return nil, fmt.Errorf("GODEBUG has %s, and a view asks its broker over HTTP/2: unset it", off)
	}
	t := &http.Transport{
		Protocols:   overHTTP2(),
		DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil },
	}
	only, err := t.NewClientConn(context.Background(), "http", "broker:80")
	if err != nil {
		_ = conn.Close() // nobody has it
		return nil, err
	}
	return &Client{http: &http.Client{Transport: only}, base: "http://broker", only: only}, nil
}

// http2Off is the setting in GODEBUG by which Go speaks no HTTP/2, as a client or as a
// server: the broker has given its environment to the process that serves a view.
func http2Off(godebug string) (setting string) {
	for _, key := range []string{"http2client=", "http2server="} {
		at := strings.LastIndex(","+godebug, ","+key) // the last one counts
		if at >= 0 && strings.HasPrefix(godebug[at:]+",", key+"0,") {
			return key + "0"
		}
	}
	return ""
}
