package httpguard

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is an http.Server whose end does not wait for connections on which
// nothing was ever sent. Clients open such ahead of need, browsers and Go's
// own among them, and http.Server.Shutdown gives each 5 s to speak.
type Server struct {
	*http.Server
	mu     sync.Mutex
	silent map[net.Conn]struct{} // guarded by mu
	ending bool                  // guarded by mu
}

// NewServer takes over s, whose ConnState it sets. s must not serve yet.
func NewServer(s *http.Server) *Server {
	e := &Server{Server: s, silent: map[net.Conn]struct{}{}}
	s.ConnState = e.state
	return e
}

func (s *Server) state(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(s.silent, c)
	case s.ending:
		_ = c.Close()
	default:
		s.silent[c] = struct{}{}
	}
}

// End has the server accept nothing more, lets what is being answered go on for
// at most drain, closes what is left, and returns what went wrong with the
// listeners. Serve then returns http.ErrServerClosed.
func (s *Server) End(drain time.Duration) error {
	s.mu.Lock()
	s.ending = true
	for c := range s.silent {
		_ = c.Close()
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	err := s.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return s.Close()
	}
	return err
}
