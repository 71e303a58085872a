package brokerhttp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/internal/httpguard"
	"github.com/pinfold-dev/pinfold/permission"
)

// Options say where a Server listens. Dir is needed.
type Options struct {
	// Dir is a directory of this user alone. The sockets lie in it, and the
	// tokens: operator.sock, agents/<id>.sock, tokens/.
	Dir string
	// Hosts are names that clients over TCP may use for this machine, beside
	// localhost and its addresses.
	Hosts []string
	// Before is called once Dir is this server's alone, and before it answers
	// anybody; its error ends New. It is for what an earlier server left: nil is
	// nothing.
	Before func(context.Context) error
	// Validate says what is wrong with an agent that somebody wants to make, by the real
	// directories, before anything is made; nil: nothing is looked at. It is called
	// twice: with no policy yet, and with the one that the description stands for. Cwd is
	// where the agent is to work, even if it was not given.
	Validate func(body *HireBody, policy *permission.Policy) error
	// Plan says how the command of a new agent is to be started, for the agent's row
	// (broker.Agent.Launch), or why whoever hires may not have it so. It sets
	// body.Command where that is the operator's to say. nil: a body with a Launch is
	// refused. It is asked before anything is made.
	Plan func(who broker.Identity, body *HireBody) (string, error)
	// Launch starts the command of an agent that was hired with one; nil: such
	// agents are refused. It returns once the command runs, or an error and
	// nothing runs: it says Started to the broker before the process and Exited
	// after it. The end of one that never ran is the caller's to say.
	Launch func(context.Context, Launch) error
	// Skill calls a file skill for an agent, which may mean that it waits for
	// the agent's manager; nil: none is called.
	Skill func(context.Context, Skill) (SkillResult, error)
	// Propose says what a request would change, to whoever may see it; nil:
	// nobody is told.
	Propose func(ctx context.Context, who broker.Identity, id string) (Proposal, error)
	// Logger hears of connections that were refused; nil is nobody.
	Logger *slog.Logger
}

// Launch is a command to be started, as an agent.
type Launch struct {
	Agent   broker.Agent
	Policy  *permission.Policy
	Command []string
	Socket  string // the agent's, on the host
	// Serve is Server.ServeConn for this agent.
	Serve func(net.Conn)
	Ended func() // to be called once the command has ended: its socket goes
}

// Server answers for one broker on unix sockets, one for the operator and one
// for each agent, and on request over TCP. It is safe for use by many
// goroutines.
type Server struct {
	b       *broker.Broker
	opt     Options
	http    *httpguard.Server
	private *httpguard.Server // of private connections
	tokens  *tokens
	turns   turns
	unlock  func()

	mu     sync.Mutex
	agents map[string]*listener
	tcp    bool // tokens are made
	closed bool
	// followed are the processes, not started here, that run as agents.
	followed map[string]*process
	place    uint64 // tells Dir from others

	// resuming is held while one agent is started again: mu is taken within it.
	resuming sync.Mutex

	serving sync.WaitGroup
	failed  chan error
	serves  context.Context // until Close
	ending  context.CancelFunc
}

// New binds the operator's socket, and that of every agent that has not ended.
// Nothing is answered before the sockets are bound. Another server with the same
// Dir is an error.
func New(ctx context.Context, b *broker.Broker, opt Options) (*Server, error) {
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
	s := &Server{b: b, opt: opt, unlock: unlock, agents: map[string]*listener{}, followed: map[string]*process{}, failed: make(chan error, 1)}
	if s.place, err = inodeOf(opt.Dir); err == nil {
		s.tokens, err = openTokens(filepath.Join(opt.Dir, "tokens"), b)
	}
	if err != nil {
		unlock()
		return nil, err
	}
	s.serves, s.ending = context.WithCancel(context.WithoutCancel(ctx))
	s.http = s.newHTTP(&http.Server{ReadHeaderTimeout: headerTime, IdleTimeout: idleTime})
	// No such connection may end by being idle: its client cannot make another.
	s.private = s.newHTTP(&http.Server{Protocols: overHTTP2(), HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxStreams}})
	if opt.Before != nil {
		if err := opt.Before(ctx); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	if err := s.begin(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// newHTTP has h, which says how its connections are treated, answer the API.
func (s *Server) newHTTP(h *http.Server) *httpguard.Server {
	h.Handler = s.handler()
	h.MaxHeaderBytes = maxHeader
	h.BaseContext = func(net.Listener) context.Context { return s.serves }
	h.ConnContext = withOwner
	h.ErrorLog = slog.NewLogLogger(s.opt.Logger.Handler(), slog.LevelWarn)
	return httpguard.NewServer(h)
}

// OperatorSocket is the operator's socket in a server's directory.
func OperatorSocket(dir string) string { return filepath.Join(dir, "operator.sock") }

// AgentSocket is an agent's socket in a server's directory. A long id is cut, and
// told from others by its hash: the name has to fit into sockaddr_un.
func AgentSocket(dir, id string) string {
	if len(id) > maxSocketName {
		sum := sha256.Sum256([]byte(id))
		id = id[:maxSocketName-17] + "~" + hex.EncodeToString(sum[:8]) // no id has a ~
	}
	return filepath.Join(dir, "agents", id+".sock")
}

// serve answers on l until it is closed.
func (s *Server) serve(l net.Listener) {
	s.serving.Add(1)
	go func() {
		defer s.serving.Done()
		if err := s.http.Serve(httpguard.Limit(l, maxConnections)); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			select {
			case s.failed <- err:
			default:
			}
		}
	}()
}

// Failed tells of a listener that broke.
func (s *Server) Failed() <-chan error { return s.failed }

// TokenFile is the file with the token of an agent, or of the operator where
// the id is "".
func (s *Server) TokenFile(id string) string { return s.tokens.file(id) }

// Close ends the server: waiting requests are answered with an error, sockets
// are removed. The broker stays open.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	for _, p := range s.followed {
		_ = p.Close() // its wait ends; a later server goes on with it
	}
	s.mu.Unlock()
	s.ending()
	err := errors.Join(s.http.End(drainTime), s.private.End(drainTime))
	s.serving.Wait()
	s.unlock()
	return err
}

// tcpListener accepts connections of nobody yet: each request has a token.
type tcpListener struct{ net.Listener }

func (l tcpListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &identified{Conn: c, tcp: true}, nil
}
