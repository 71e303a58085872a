package brokerhttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"

	"github.com/pinfold-dev/pinfold/broker"
)

// Options say where a Server listens. Dir is needed.
type Options struct {
	// Dir is a directory of this user alone. The sockets lie in it, and the
	// tokens: operator.sock, agents/<id>.sock, tokens/.
	Dir string
	// Hosts are names that clients over TCP may use for this machine, beside
	// localhost and its addresses.
	Hosts []string
	// Launch starts the command of an agent that was hired with one; nil: such
	// agents are refused. It returns once the command runs, or an error and
	// nothing runs.
	Launch func(context.Context, Launch) error
	// Logger hears of connections that were refused; nil is nobody.
	Logger *slog.Logger
}

// Server answers for one broker on unix sockets, one for the operator and one
// for each agent, and on request over TCP. It is safe for use by many
// goroutines.
type Server struct {
	b      *broker.Broker
	opt    Options
	http   *http.Server
	tokens *tokens
	unlock func()

	mu     sync.Mutex
	agents map[string]*listener
	closed bool

	serving sync.WaitGroup
	failed  chan error
	ending  context.CancelFunc
}

// New binds the operator's socket, and that of every agent that has not ended.
// Nothing is answered before the sockets are bound. Another server with the same
// Dir is an error.
func New(b *broker.Broker, opt Options) (*Server, error) {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	for _, dir := range []string{opt.Dir, filepath.Join(opt.Dir, "agents")} {
		if err := privateDir(dir); err != nil {
			return nil, fmt.Errorf("directory of sockets: %w", err)
		}
	}
	unlock, err := lockDir(opt.Dir)
	if err != nil {
		return nil, err
	}
	s := &Server{b: b, opt: opt, unlock: unlock, agents: map[string]*listener{}, failed: make(chan error, 1)}
	if s.tokens, err = openTokens(filepath.Join(opt.Dir, "tokens")); err != nil {
		unlock()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.ending = cancel
	s.http = &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       withOwner,
		ErrorLog:          slog.NewLogLogger(opt.Logger.Handler(), slog.LevelWarn),
	}
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// OperatorSocket is the operator's socket in a server's directory.
func OperatorSocket(dir string) string { return filepath.Join(dir, "operator.sock") }

// AgentSocket is an agent's socket in a server's directory.
func AgentSocket(dir, id string) string { return filepath.Join(dir, "agents", id+".sock") }

// serve answers on l until it is closed.
func (s *Server) serve(l net.Listener) {
	s.serving.Add(1)
	go func() {
		defer s.serving.Done()
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			select {
			case s.failed <- err:
			default:
			}
		}
	}()
}

// Failed tells of a listener that broke.
func (s *Server) Failed() <-chan error { return s.failed }

// ListenTCP answers on l too, which the server closes: there a token says who
// asks. TokenFile has the names of the files.
func (s *Server) ListenTCP(l net.Listener) { s.serve(bounded{l, make(chan struct{}, maxConnections)}) }

// TokenFile is the file with the token of an agent, or of the operator where
// the id is "".
func (s *Server) TokenFile(id string) string {
	return s.tokens.file(identityOf(id))
}

// Close ends the server: waiting requests are answered with an error, sockets
// are removed. The broker stays open.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.ending()
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	s.serving.Wait()
	s.unlock()
	return err
}

// bounded is a listener of TCP with a bound on connections.
type bounded struct {
	net.Listener
	slots chan struct{}
}

func (b bounded) Accept() (net.Conn, error) {
	b.slots <- struct{}{}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.slots
		return nil, err
	}
	return &identified{Conn: c, tcp: true, release: func() { <-b.slots }}, nil
}

// identityOf is the agent's, or the operator's where the id is "".
func identityOf(id string) broker.Identity {
	if id == "" {
		return broker.OperatorIdentity()
	}
	return broker.AgentIdentity(id)
}
