package mcpserver

import (
	"context"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServeStdio serves one session of newline-delimited messages until the peer
// closes in or ctx ends, both of which are no error. Then calls are cancelled
// (a peer that closed in still gets the answers that are ready within the
// drain), and at most a drain later ServeStdio returns. What does not stop by
// then is left behind, as is a Read of in that has begun: close in and keep the
// Set's resolver open, or end the process.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	c := newConn(in, out)
	session, err := s.mcp.Connect(withClosing(context.WithoutCancel(ctx), ctx), c, nil)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- session.Wait() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	_ = c.Close() // what it closes is ours and cannot fail
	select {
	case err := <-done:
		return err
	case <-time.After(drain): // it does not read, or a skill does not stop
		return nil
	}
}

var (
	_ mcp.Transport  = (*conn)(nil)
	_ mcp.Connection = (*conn)(nil)
)

// Connect makes a conn its own transport: it is used once.
func (c *conn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID is empty: there is one session.
func (c *conn) SessionID() string { return "" }
