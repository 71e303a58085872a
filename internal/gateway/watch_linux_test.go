package gateway

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// greeting is what a client of TLS says first to a host of this name.
func greeting(t *testing.T, name string) []byte {
	client, server := net.Pipe()
	go func() {
		_ = tls.Client(client, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake()
	}()
	defer client.Close()
	b := make([]byte, 64<<10)
	require.NoError(t, server.SetReadDeadline(time.Now().Add(time.Minute)))
	n, err := server.Read(b)
	require.NoError(t, err)
	return b[:n]
}

// TestWatch: what names the allowed host, or none, passes unchanged; what names another
// one does not pass.
func TestWatch(t *testing.T) {
	const get = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"
	for name, c := range map[string]struct {
		text string
		pass string // how much of it; "": all
		ends bool   // with a reset
	}{
		"http":             {text: get + get},
		"port":             {text: "GET / HTTP/1.1\r\nHost: A.test:80\r\n\r\n"},
		"body":             {text: "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhello" + get},
		"chunks":           {text: "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + get},
		"long body":        {text: "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 300000\r\n\r\n" + strings.Repeat("x", 300000) + get},
		"ssh":              {text: "SSH-2.0-OpenSSH_9.6 Debian\r\nrest"},
		"git":              {text: "0032git-upload-pack /project.git\x00host=b.test\x00"},
		"mail":             {text: "EHLO b.test\r\n"},
		"binary":           {text: "\x00\x01\x02\x03 GET / HTTP/1.1\r\n"},
		"half a line":      {text: "GE"},
		"other":            {text: "GET / HTTP/1.1\r\nHost: b.test\r\n\r\n", ends: true},
		"second":           {text: get + "GET / HTTP/1.1\r\nHost: b.test\r\n\r\n", pass: get, ends: true},
		"in a body":        {text: "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n\r\nGET / HTTP/1.1\r\nHost: b.test\r\n\r\n", pass: "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n\r\n", ends: true},
		"line and field":   {text: "GET http://b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", ends: true},
		"two hosts":        {text: "GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n", ends: true},
		"bare line end":    {text: "GET / HTTP/1.1\r\nX: y\nHost: a.test\r\nHost: b.test\r\n\r\n", ends: true},
		"folded":           {text: "GET / HTTP/1.1\r\nHost: a.test\r\n b.test\r\n\r\n", ends: true},
		"two lengths":      {text: "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ends: true},
		"no host":          {text: "GET / HTTP/1.1\r\n\r\n", ends: true},
		"http 0.9":         {text: "GET /\r\n", ends: true},
		"http 2":           {text: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ends: true},
		"connect":          {text: "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n", ends: true},
		"empty line first": {text: "\r\n" + get, ends: true},
		"own method":       {text: "x!y / HTTP/1.1\r\nHost: b.test\r\n\r\n", ends: true},
		"tabs":             {text: "GET\t/\tHTTP/1.1\r\nHost: b.test\r\n\r\n", ends: true},
		"long line":        {text: "GET /" + strings.Repeat("x", 200000) + " HTTP/1.1\r\nHost: b.test\r\n\r\n", ends: true},
		"long head":        {text: "GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 200000) + "\r\nHost: b.test\r\n\r\n", ends: true},
		"tls":              {text: string(greeting(t, "a.test")) + "rest"},
		"tls without name": {text: string(greeting(t, "")) + "rest"},
		"tls, other":       {text: string(greeting(t, "b.test")), ends: true},
		"tls, cut":         {text: string(greeting(t, "a.test")[:20]), ends: true},
		"tls, nonsense":    {text: "\x16\x03\x01\x00\x05hello", ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1 << 20, 7, 1} {
				if size == 1 && len(c.text) > 10000 {
					continue
				}
				answer := make(chan []byte)
				close(answer)
				var out bytes.Buffer
				err := watcher{names: []string{"a.test"}, answer: answer}.copy(&out, &slow{strings.NewReader(c.text), size})
				want := c.pass
				if c.ends {
					var bad *mismatch
					assert.ErrorAs(t, err, &bad)
				} else {
					assert.NoError(t, err)
					want = c.text
				}
				assert.Equal(t, want, out.String())
			}
		})
	}
}

// TestWatchUpgrade: only after the server's yes is what follows no HTTP any more.
func TestWatchUpgrade(t *testing.T) {
	const ask = "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
	const other = "GET / HTTP/1.1\r\nHost: b.test\r\n\r\n"
	for says, passes := range map[string]bool{"HTTP/1.1 101 Switching": true, "HTTP/1.1 200 OK": false, "": false} {
		answer := make(chan []byte, 1)
		answer <- []byte(says)
		var out bytes.Buffer
		err := watcher{names: []string{"a.test"}, answer: answer}.copy(&out, strings.NewReader(ask+other))
		if passes {
			assert.NoError(t, err)
			assert.Equal(t, ask+other, out.String())
		} else {
			assert.Error(t, err)
			assert.Equal(t, ask, out.String())
		}
	}
}

// slow gives few bytes at once.
type slow struct {
	from io.Reader
	most int
}

func (s *slow) Read(p []byte) (int, error) { return s.from.Read(p[:min(len(p), s.most)]) }
