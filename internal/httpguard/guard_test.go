package httpguard_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/internal/httpguard"
)

// What each kind of server answers, all at once. ok is nil: the request is
// answered.
func TestGuard(t *testing.T) {
	var ok error
	host, origin := httpguard.ErrHost, httpguard.ErrOrigin
	const get, post = http.MethodGet, http.MethodPost
	servers := []httpguard.Guard{
		{},
		{Remote: true, Hosts: []string{"box.example"}},
		{Pages: httpguard.OwnOrigin},
		{Pages: httpguard.OwnPage},
	}
	for _, c := range []struct {
		what, method, host string
		header             http.Header
		want               [4]error // of servers, in their order
	}{
		{"a program", get, "127.0.0.1:80", nil, [4]error{ok, ok, ok, ok}},
		{"a program that changes something", post, "127.0.0.1:80", nil, [4]error{ok, ok, ok, origin}},

		{"localhost", get, "localhost", nil, [4]error{ok, ok, ok, ok}},
		{"localhost, fully qualified, through a forwarded port", get, "LOCALHOST.:99", nil, [4]error{ok, ok, ok, ok}},
		{"another loopback address", get, "127.0.0.2:1", nil, [4]error{ok, ok, ok, ok}},
		{"IPv6", get, "[::1]:1", nil, [4]error{ok, ok, ok, ok}},
		{"IPv6 without a port", get, "[::1]", nil, [4]error{ok, ok, ok, ok}},
		{"IPv4 within IPv6", get, "[::ffff:127.0.0.1]:1", nil, [4]error{ok, ok, ok, ok}},
		{"the address that it arrived at", get, "192.0.2.7:80", nil, [4]error{host, ok, host, host}},
		{"another address", get, "192.0.2.8:80", nil, [4]error{host, host, host, host}},
		{"the whole network", get, "0.0.0.0", nil, [4]error{host, host, host, host}},
		{"a name that is set", get, "BOX.example.:80", nil, [4]error{host, ok, host, host}},
		{"a rebound name", get, "attacker.test:80", nil, [4]error{host, host, host, host}},
		{"a rebound name that begins like ours", get, "localhost.attacker.test", nil, [4]error{host, host, host, host}},
		{"a rebound name that begins like an address", get, "127.0.0.1.attacker.test", nil, [4]error{host, host, host, host}},
		{"a name with a user", get, "localhost@attacker.test", nil, [4]error{host, host, host, host}},
		{"a letter that folds to s", get, "localho\u017ft", nil, [4]error{host, host, host, host}},
		{"no name", get, "", nil, [4]error{host, host, host, host}},

		{"its own page", post, "localhost:80", http.Header{"Origin": {"http://localhost:80"}}, [4]error{origin, origin, ok, ok}},
		{"its own page, as a browser says", post, "localhost:80", http.Header{"Origin": {"http://localhost:80"}, "Sec-Fetch-Site": {"same-origin"}}, [4]error{origin, origin, ok, ok}},
		{"its own page over TLS", post, "localhost:80", http.Header{"Origin": {"https://localhost:80"}}, [4]error{origin, origin, ok, origin}},
		{"a page elsewhere", post, "localhost:80", http.Header{"Origin": {"https://attacker.test"}}, [4]error{origin, origin, origin, origin}},
		{"a page elsewhere that reads", get, "localhost:80", http.Header{"Origin": {"https://attacker.test"}}, [4]error{origin, origin, origin, origin}},
		{"a page on another port", post, "localhost:80", http.Header{"Origin": {"http://localhost:1"}}, [4]error{origin, origin, origin, origin}},
		{"a page without an origin", post, "localhost:80", http.Header{"Origin": {"null"}}, [4]error{origin, origin, origin, origin}},
		{"an empty origin", post, "localhost:80", http.Header{"Origin": {""}}, [4]error{origin, origin, origin, origin}},
		{"two origins", post, "localhost:80", http.Header{"Origin": {"http://localhost:80", "https://attacker.test"}}, [4]error{origin, origin, origin, origin}},
		{"the same origin twice", post, "localhost:80", http.Header{"Origin": {"http://localhost:80", "http://localhost:80"}}, [4]error{origin, origin, origin, origin}},

		{"an address that a person types", get, "localhost:80", http.Header{"Sec-Fetch-Site": {"none"}}, [4]error{origin, origin, ok, ok}},
		{"another site loads it", get, "localhost:80", http.Header{"Sec-Fetch-Site": {"cross-site"}}, [4]error{origin, origin, ok, origin}},
		{"another port loads it", get, "localhost:80", http.Header{"Sec-Fetch-Site": {"same-site"}}, [4]error{origin, origin, ok, origin}},
		{"a link elsewhere opens it", get, "localhost:80", http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}}, [4]error{origin, origin, ok, ok}},
		{"a form elsewhere", post, "localhost:80", http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}}, [4]error{origin, origin, ok, origin}},
	} {
		for i, guard := range servers {
			r := httptest.NewRequestWithContext(context.WithValue(t.Context(), http.LocalAddrContextKey,
				net.Addr(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 80})), c.method, "/", nil)
			r.Host = c.host
			r.Header = c.header
			require.Equal(t, c.want[i], guard.Check(r), "%s: %+v", c.what, guard)
		}
	}

	deeper := httptest.NewRequestWithContext(t.Context(), get, "/api/requests", nil)
	deeper.Host, deeper.Header = "localhost", http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}}
	require.Equal(t, origin, httpguard.Guard{Pages: httpguard.OwnPage}.Check(deeper), "only the page itself may be linked to")
	require.Equal(t, host, httpguard.Guard{Remote: true}.Check(&http.Request{Host: "192.0.2.7"}), "no address to compare with")
}

// One connection too many is accepted when another is closed, once however
// often it is.
func TestLimit(t *testing.T) {
	inner := pipes{accept: make(chan net.Conn, 3), closed: make(chan struct{})}
	l := httpguard.Limit(inner, 1)
	for range 3 {
		a, b := net.Pipe()
		t.Cleanup(func() { _ = b.Close() })
		inner.accept <- a
	}
	first, err := l.Accept()
	require.NoError(t, err)
	second := make(chan net.Conn, 2)
	go func() {
		for range 2 {
			c, err := l.Accept()
			if err != nil {
				close(second)
				return
			}
			second <- c
		}
	}()
	require.Len(t, inner.accept, 2)
	require.Empty(t, second)
	_ = first.Close()
	_ = first.Close()
	c := <-second
	require.NotEqual(t, c, httpguard.Beneath(c))
	require.Len(t, inner.accept, 1)
	require.Empty(t, second)
	require.NoError(t, c.Close())
	require.NoError(t, (<-second).Close())
}
