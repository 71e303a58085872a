package brokerhttp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
)

// A Relay is an agent's way out of its view where another process than the
// broker has made that view: a socket whose connections are led on to the
// agent's own. It belongs to the processes of one view: whoever connects first
// from another process namespace than the relay's settles which, and all
// others are turned away. It reads nothing of what passes, and the broker sees
// one peer, the process of the relay.
type Relay struct {
	l      *listener
	to     func(context.Context, string, string) (net.Conn, error)
	logger *slog.Logger
	ctx    context.Context
	stop   context.CancelFunc
	all    sync.WaitGroup
}

// RelaySocket is where the relay to an agent's socket is bound: beside it, so that
// the server removes what a process that was killed has left.
func RelaySocket(socket string) string { return socket + "~" } // no id has a ~

// NewRelay binds the socket at path, in a directory of this user alone that is
// made if it is missing, and leads to the socket of the agent id at to. ctx is
// for starting only. logger hears of connections that were turned away; nil is
// nobody.
func NewRelay(ctx context.Context, path, id, to string, logger *slog.Logger) (*Relay, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	if err := privateDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	l, err := listenAs(path, broker.AgentIdentity(id), true)
	if err != nil {
		return nil, err
	}
	r := &Relay{l: l, to: dialer(to), logger: logger}
	r.ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	r.all.Go(r.accept)
	return r, nil
}

// Close ends the relay and its connections, and removes the socket.
func (r *Relay) Close() error {
	r.stop()
	err := r.l.Close()
	r.all.Wait()
	return err
}

func (r *Relay) accept() {
	for {
		c, err := r.l.Accept()
		switch {
		case r.ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			if err == nil {
				_ = c.Close() // too late
			}
			return
		case err != nil: // too many descriptors, for example: others end
			time.Sleep(retryAfter)
			continue
		}
		if why := c.(*identified).refused; why != nil {
			r.logger.Warn("a connection was refused", "socket", r.l.who.String(), "why", why)
			_ = c.Close() // nothing was said on it
			continue
		}
		r.all.Go(func() { r.lead(c.(*identified)) })
	}
}

// lead passes bytes on until both sides have ended.
func (r *Relay) lead(in *identified) {
	defer func() { _ = in.Close() }() // nothing is owed any more
	out, err := r.to(r.ctx, "", "")
	if err != nil {
		return // the client finds its connection closed: nobody answers
	}
	defer func() { _ = out.Close() }() // likewise
	over := context.AfterFunc(r.ctx, func() { _, _ = in.Close(), out.Close() })
	defer over()
	var answers sync.WaitGroup
	answers.Go(func() { pass(in.Conn, out) })
	pass(out, in.Conn)
	answers.Wait()
}

// pass copies until from ends or to is gone, and says so to both.
func pass(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		_, _ = to.Close(), from.Close() // the other direction is to end too
		return
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // to may be gone
	}
}

// Listens reports whether a server listens on the socket: one that was killed
// leaves a socket that nobody does.
func Listens(ctx context.Context, socket string) bool {
	c, err := dialer(socket)(ctx, "", "")
	if err == nil {
		_ = c.Close() // nothing was said on it
	}
	return err == nil
}
