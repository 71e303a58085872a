package webinbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/internal/httpguard"
)

// Options are what a Server is made of. Broker and Dir are needed.
type Options struct {
	// Broker is what the page shows, and answers to as its operator.
	Broker *broker.Broker
	// Dir is a directory of this user alone, for the link and the sessions,
	// which outlive the server.
	Dir string
	// Propose says what a request would change; nil: no page shows it.
	Propose func(ctx context.Context, who broker.Identity, id string) (brokerhttp.Proposal, error)
	// Others has what waits at other brokers of the same person, such as those of runs,
	// which is shown and answered with Broker's; nil is nothing.
	Others Inbox
	// Logger hears of calls that were refused; nil is nobody.
	Logger *slog.Logger

	files fs.FS // other files of the page than its own, in tests
}

// Inbox is what waits for one person's answer. A request that it does not know is a
// *broker.Error of CodeNotFound.
type Inbox interface {
	Requests(ctx context.Context) ([]broker.Request, error)
	Request(ctx context.Context, id string) (broker.Request, error)
	Proposal(ctx context.Context, id string) (brokerhttp.Proposal, error)
	// Agent is the agent that made a request.
	Agent(ctx context.Context, r broker.Request) (broker.Agent, error)
	Approve(ctx context.Context, id string, body brokerhttp.ApproveBody) (brokerhttp.Resolved, error)
	Deny(ctx context.Context, id string, body brokerhttp.DenyBody) (brokerhttp.Resolved, error)
	// Watch calls look when there may be something new, until ctx ends.
	Watch(ctx context.Context, look func()) error
}

// Server serves the page on one listener. It is safe for use by many
// goroutines.
type Server struct {
	opt      Options
	listener net.Listener
	http     *httpguard.Server
	sessions *sessions
	searches chan struct{}
	warned   warnings
	ending   context.CancelFunc
	closing  sync.Once
	closed   error
}

// operator is who answers on the page.
var operator = broker.OperatorIdentity()

// New makes a server on l, which it closes, also when it fails. A listener that
// other machines reach is refused.
func New(l net.Listener, opt Options) (*Server, error) {
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		return nil, errors.Join(fmt.Errorf("the page on %s could be reached from other machines: it is for 127.0.0.1 or ::1", l.Addr()), l.Close())
	}
	if opt.files == nil {
		opt.files = files
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	kept, err := openSessions(opt.Dir, addr)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sessions of the page: %w", err), l.Close())
	}
	s := &Server{opt: opt, listener: httpguard.Limit(l, maxConnections), sessions: kept, searches: make(chan struct{}, maxSearches)}
	s.warned.log = opt.Logger
	serving, cancel := context.WithCancel(context.Background())
	s.ending = cancel
	s.http = httpguard.NewServer(&http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       answerTime,
		WriteTimeout:      answerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return serving },
		ErrorLog:          slog.NewLogLogger(opt.Logger.Handler(), slog.LevelDebug),
	})
	return s, nil
}

// Link is the address that lets a browser in, once.
func (s *Server) Link() string { return s.sessions.currentLink() }

// LinkFile is a file that always holds the link that works next.
func (s *Server) LinkFile() string { return s.sessions.linkFile() }

// Serve answers until Close, and returns nil then.
func (s *Server) Serve() error {
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close ends the server and removes the file with the link. Sessions stay, for
// the next server in the same directory and on the same port.
func (s *Server) Close() error {
	s.closing.Do(func() {
		s.ending()
		err := s.http.End(drainTime)
		// Before Serve the listener is not the http server's to close.
		if e := s.listener.Close(); !errors.Is(e, net.ErrClosed) {
			err = errors.Join(err, e)
		}
		s.closed = errors.Join(err, s.sessions.close())
	})
	return s.closed
}
