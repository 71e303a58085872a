package gateway

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/internal/egress"
)

// watcher passes on what the command sends, and ends a connection on which it names
// another host than the one that was allowed: servers of many hosts would lead there.
type watcher struct {
	names  []string      // that may be named; none: all
	answer <-chan []byte // how the first answer begins
}

// mismatch is another name than the one that was allowed.
type mismatch struct{ what, host, want string }

func (m *mismatch) Error() string {
	if m.host == "" {
		return m.what
	}
	return fmt.Sprintf("%s names %q, and the connection is for %s", m.what, m.host, m.want)
}

// maxHead bounds what is held back of a request before it is understood, in bytes.
const maxHead = 64 << 10

const (
	recordHandshake = 0x16 // of TLS
	longestMethod   = 24   // more than HTTP has
)

// copy passes on from src until it ends.
func (w watcher) copy(dst io.Writer, src io.Reader) error {
	if len(w.names) == 0 {
		_, err := io.CopyBuffer(dst, src, make([]byte, copyChunk))
		return err
	}
	held := &recorder{from: src}
	br := bufio.NewReaderSize(held, maxHead)
	first, err := br.Peek(1)
	if err != nil {
		return unlessEnd(err)
	}
	if first[0] == recordHandshake {
		err = w.hello(br)
	} else {
		var is bool
		if is, err = http1(br); is {
			return w.requests(dst, br, held)
		}
	}
	if err != nil {
		return err
	}
	held.off = true
	held.bytes = nil
	_, err = io.CopyBuffer(dst, struct{ io.Reader }{br}, make([]byte, copyChunk))
	return err
}

func unlessEnd(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// may says whether a host may be named; it may have a port.
func (w watcher) may(what, host string) error {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
		if strings.Contains(h, ":") {
			name = "[" + h + "]"
		}
	}
	name = egress.Fold(name)
	if slices.ContainsFunc(w.names, func(n string) bool {
		domain, wild := strings.CutPrefix(n, "*")
		return n == name || wild && strings.HasSuffix(name, domain)
	}) {
		return nil
	}
	return &mismatch{what: what, host: name, want: w.names[0]}
}

// hello looks at the name in the greeting of TLS, where there is one.
func (w watcher) hello(br *bufio.Reader) error {
	errSeen := errors.New("seen")
	var name string
	peeked := &peeker{br: br}
	server := tls.Server(peeked, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		name = h.ServerName
		return nil, errSeen
	}})
	switch err := server.Handshake(); {
	case errors.Is(err, errSeen) && name == "":
		return nil
	case errors.Is(err, errSeen):
		return w.may("TLS (SNI)", name)
	case peeked.err != nil && peeked.err != io.EOF:
		return &mismatch{what: "the greeting of TLS is too long"}
	default:
		return &mismatch{what: "the greeting of TLS is not understood"}
	}
}

// peeker is a connection that reads without taking, and says nothing.
type peeker struct {
	br  *bufio.Reader
	n   int
	err error
}

func (p *peeker) Read(b []byte) (int, error) {
	if _, err := p.br.Peek(p.n + 1); err != nil {
		p.err = err
		return 0, err
	}
	seen, _ := p.br.Peek(p.br.Buffered())
	n := copy(b, seen[p.n:])
	p.n += n
	return n, nil
}

func (p *peeker) Write(b []byte) (int, error)      { return len(b), nil }
func (p *peeker) Close() error                     { return nil }
func (p *peeker) LocalAddr() net.Addr              { return nil }
func (p *peeker) RemoteAddr() net.Addr             { return nil }
func (p *peeker) SetDeadline(time.Time) error      { return nil }
func (p *peeker) SetReadDeadline(time.Time) error  { return nil }
func (p *peeker) SetWriteDeadline(time.Time) error { return nil }

// The first is what a line may begin with that some server takes for a request. What
// else has such a beginning (SSH, mail, git) has neither of the second.
var (
	mayBeMethod = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+([ \t]|$)")
	isRequest   = regexp.MustCompile(`(?i)^(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|TRACE|CONNECT|PRI)[ \t]|HTTP/`)
)

// http1 waits until it is clear whether what is sent is a request of HTTP, and takes
// nothing. What begins otherwise is not held back for it.
func http1(br *bufio.Reader) (bool, error) {
	for n := 1; ; {
		if _, err := br.Peek(n); err == bufio.ErrBufferFull {
			return false, &mismatch{what: "the first line is too long"}
		} else if err != nil {
			return false, nil // it ends here
		}
		start, _ := br.Peek(br.Buffered())
		if start[0] == '\r' || start[0] == '\n' {
			return false, &mismatch{what: "it begins with an empty line, after which some servers read a request"}
		}
		if !mayBeMethod.Match(start) || len(start) > longestMethod && !bytes.ContainsAny(start[:longestMethod], " \t") || bytes.IndexByte(start, 0) >= 0 {
			return false, nil
		}
		if end := bytes.IndexByte(start, '\n'); end >= 0 {
			return isRequest.Match(start[:end]), nil
		}
		n = len(start) + 1
	}
}

// requests passes on requests of HTTP/1, each after its host was looked at.
func (w watcher) requests(dst io.Writer, br *bufio.Reader, held *recorder) error {
	forward := func() error {
		n := len(held.bytes) - br.Buffered()
		_, err := dst.Write(held.bytes[:n])
		held.bytes = append(held.bytes[:0], held.bytes[n:]...)
		return err
	}
	chunk := make([]byte, copyChunk/4)
	for first := true; ; first = false {
		if _, err := br.Peek(1); err != nil {
			return unlessEnd(err)
		}
		held.room = maxHead
		r, err := http.ReadRequest(br)
		held.room = 0
		if err == nil {
			err = plain(held.bytes[:len(held.bytes)-br.Buffered()], len(r.TransferEncoding) > 0)
		}
		if err != nil {
			return &mismatch{what: "the request of HTTP is not understood: " + err.Error()}
		}
		if r.Method == http.MethodConnect {
			return &mismatch{what: "CONNECT asks for a connection to another host"}
		}
		// That of the line, where it has one, counts more than the field.
		if err := w.may("HTTP (Host)", r.Host); err != nil {
			return err
		}
		if err := forward(); err != nil {
			return err
		}
		for err == nil {
			_, err = r.Body.Read(chunk)
			if failed := forward(); failed != nil {
				return failed
			}
		}
		if err != io.EOF {
			return err
		}
		// Only what the server agreed to is no HTTP any more, and of a later answer it
		// is not clear where it begins.
		if first && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") && bytes.HasPrefix(<-w.answer, []byte("HTTP/1.1 101 ")) {
			held.off = true
			held.bytes = nil
			_, err := io.CopyBuffer(dst, struct{ io.Reader }{br}, make([]byte, copyChunk))
			return err
		}
	}
}

// plain refuses a head that two readers could understand differently.
func plain(head []byte, chunked bool) error {
	lines := strings.Split(string(head), "\r\n")
	hosts := 0
	for i, line := range lines {
		name, _, _ := strings.Cut(line, ":")
		name = strings.ToLower(name)
		switch {
		case strings.ContainsAny(line, "\r\n\x00"):
			return errors.New("a line ends otherwise than the others")
		case i > 0 && strings.ContainsAny(name, " \t"):
			return errors.New("a line goes on in the next one, or its name has a space")
		case i > 0 && name == "host":
			hosts++
		case i > 0 && name == "content-length" && chunked:
			return errors.New("it has two lengths")
		}
	}
	if hosts > 1 {
		return errors.New("it names two hosts")
	}
	return nil
}

// recorder keeps what is read until it was passed on.
type recorder struct {
	from  io.Reader
	bytes []byte
	off   bool
	room  int // how much more may be read; 0: any amount
}

func (r *recorder) Read(p []byte) (int, error) {
	if r.room > 0 && len(r.bytes) > r.room {
		return 0, errors.New("it is too long")
	}
	n, err := r.from.Read(p)
	if !r.off {
		r.bytes = append(r.bytes, p[:n]...)
	}
	return n, err
}
