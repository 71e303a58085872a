package brokerhttp

import (
	"context"
	"errors"
	"net"

	"github.com/pinfold-dev/pinfold/broker"
)

// begin binds the sockets of all who may ask.
func (s *Server) begin(ctx context.Context) error {
	if err := s.rejoin(ctx); err != nil {
		return err
	}
	l, err := listenAs(OperatorSocket(s.opt.Dir), broker.OperatorIdentity(), false)
	if err != nil {
		return err
	}
	s.serve(l)
	all, err := s.b.Status(ctx, broker.OperatorIdentity())
	if err != nil {
		return err
	}
	for _, a := range all.Agents {
		if a.State.Ended() {
			continue
		}
		if err := s.admit(ctx, a.ID, false); err != nil {
			return err
		}
	}
	return nil
}

// admit gives an agent its socket, and its token where there is TCP. inView: its
// processes are in a view of their own.
func (s *Server) admit(ctx context.Context, id string, inView bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the broker is ending")
	}
	if s.agents[id] != nil {
		return nil
	}
	l, err := listenAs(AgentSocket(s.opt.Dir, id), broker.AgentIdentity(id), inView)
	if err != nil {
		return err
	}
	if s.tcp {
		if err := s.tokens.admit(ctx, id); err != nil {
			return errors.Join(err, l.Close())
		}
	}
	s.agents[id] = l
	s.serve(l)
	return nil
}

// Admit gives an agent that was hired through the broker itself its socket, and
// returns the socket's path. Whoever connects must be in a view, which is to say
// in another process namespace than the server: the first settles in which.
func (s *Server) Admit(ctx context.Context, id string) (socket string, err error) {
	return AgentSocket(s.opt.Dir, id), s.admit(ctx, id, true)
}

// Dismiss takes an agent that has ended its socket and its token. What it is
// connected with already the broker refuses.
func (s *Server) Dismiss(id string) {
	s.unfollow(id, nil)
	s.mu.Lock()
	l := s.agents[id]
	delete(s.agents, id)
	s.mu.Unlock()
	if l != nil {
		_ = l.Close() // it is removed, or was
	}
	if err := s.tokens.forget(id); err != nil {
		s.opt.Logger.Warn("a token could not be removed", "agent", id, "error", err)
	}
}

// ListenTCP answers on l too, which the server closes: there a token says who
// asks. TokenFile has the names of the files, which exist from now on.
func (s *Server) ListenTCP(ctx context.Context, l net.Listener) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.tokens.admitOperator()
	for id := range s.agents {
		err = errors.Join(err, s.tokens.admit(ctx, id))
	}
	if err != nil {
		return errors.Join(err, l.Close())
	}
	s.tcp = true
	s.serve(tcpListener{l})
	return nil
}

// refused notes a request of somebody who is not whom the connection, by its
// socket or by what it says, would have them be; the audit has it before it is
// answered. It returns what is answered.
func (s *Server) refused(ctx context.Context, through string, why *broker.Error) *broker.Error {
	s.opt.Logger.Warn("a connection was refused", "through", through, "why", why)
	if err := s.b.Refused(ctx, broker.Identity{}, "connect", through, why); err != nil {
		s.opt.Logger.Warn("which is not recorded", "why", err)
	}
	return why
}
