package mcpserver

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pinfold-dev/pinfold/internal/httpguard"
)

// Endpoint is the path of the server's URL.
const Endpoint = "/mcp"

// HTTPOptions say who may use the server over HTTP. The zero value is nobody.
type HTTPOptions struct {
	// Token is what a client sends as its bearer token. "" refuses everybody.
	Token string
	// Hosts are names that clients may use for this machine, beside localhost
	// and its addresses. A name that an attacker's DNS can make lead here must
	// not be one.
	Hosts []string
}

// Handler serves streamable HTTP at Endpoint, for a server of the caller's
// own. Wants its listener's address in the requests' contexts, as net/http
// puts it there. Serve is what most need.
func (s *Server) Handler(o HTTPOptions) http.Handler {
	streams := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		if r.Header.Get("Mcp-Session-Id") == "" && s.sessions() >= maxSessions {
			return nil // 400: no server available
		}
		return s.mcp
	}, &mcp.StreamableHTTPOptions{
		SessionTimeout:             sessionIdle,
		MaxRequestBodyBytes:        maxMessage,
		Logger:                     s.opts.Logger,
		DisableLocalhostProtection: true, // ours is stricter
	})
	mux := http.NewServeMux()
	mux.Handle(Endpoint, bounded(streams))
	return guarded(o, mux)
}

func (s *Server) sessions() (n int) {
	for range s.mcp.Sessions() {
		n++
	}
	return n
}

// Serve serves streamable HTTP on l, which it closes, until ctx ends: that is
// no error. Then calls are cancelled, and at most a drain later Serve returns.
func (s *Server) Serve(ctx context.Context, l net.Listener, o HTTPOptions) error {
	srv := httpguard.NewServer(&http.Server{
		Handler:           s.Handler(o),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return withClosing(context.WithoutCancel(ctx), ctx) },
		ErrorLog:          slog.NewLogLogger(s.opts.Logger.Handler(), slog.LevelWarn),
	})
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	for session := range s.mcp.Sessions() {
		go func() { _ = session.Close() }() // ends its streams, once its calls have noticed
	}
	return srv.End(drain)
}
