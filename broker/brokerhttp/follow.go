package brokerhttp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
)

// OwnProcess is how the row of an agent that this very process runs names it: a
// later server of the same directory knows by it that the process is gone.
func (s *Server) OwnProcess() (string, error) {
	p, err := openProcess(os.Getpid())
	if err != nil {
		return "", err
	}
	return s.named(p), p.Close()
}

// named is a process in an agent's row. Its start tells it from a later one of
// the same number, and the directory from one on another machine.
func (s *Server) named(p *process) string {
	return fmt.Sprintf("process %d, since %d, of %x", p.pid, p.start, s.place)
}

// followHirer has an agent last as long as the process that hired it, which is this
// process's user's: no other is let in.
func (c *call) followHirer(ctx context.Context, id string) error {
	p, err := c.hirer()
	if err != nil {
		return err
	}
	if err := c.s.b.Started(ctx, id, c.s.named(p), broker.How(os.Getuid())); err != nil {
		return errors.Join(err, p.Close())
	}
	c.s.follow(id, p)
	return nil
}

// socket is the connection, where the kernel says who is at its other end.
func (c *call) socket() *net.UnixConn {
	conn := c.Context().Value(ownerKey{}).(*identified) // identify has seen it
	if conn.private {
		return nil
	}
	socket, _ := conn.Conn.(*net.UnixConn)
	return socket
}

// hirer is the process at the other end of the call's connection.
func (c *call) hirer() (*process, error) {
	who, err := peerOf(c.socket())
	if err != nil {
		return nil, err
	}
	defer func() { _ = who.held.Close() }() // it was only looked at
	p, err := openProcess(int(who.pid))
	if err != nil {
		return nil, fmt.Errorf("the process that hires cannot be followed: %w", err)
	}
	// It lives still, so the number was its own when it was opened.
	still, err := peerOf(c.socket())
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, still.held.Close()
}

// follow says Exited for an agent once its process has ended, unless that was
// said before. It closes p.
func (s *Server) follow(id string, p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = p.Close() // a later server finds out
		return
	}
	s.followed[id] = p
	s.serving.Add(1)
	go func() {
		defer s.serving.Done()
		if p.wait() == nil {
			s.vanish(id, p)
		}
	}()
}

// unfollow lets go of an agent's process, if p is it or is nil.
func (s *Server) unfollow(id string, p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is := s.followed[id]; is != nil && (p == nil || p == is) {
		delete(s.followed, id)
		_ = is.Close() // it was only looked at
	}
}

// follows reports whether an agent's process is followed.
func (s *Server) follows(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.followed[id] != nil
}

// vanish records the end of an agent whose process is gone. A store that is away
// is asked again; what this server does not record the next one does.
func (s *Server) vanish(id string, p *process) {
	defer s.unfollow(id, p)
	for s.recordVanished(id, s.named(p)) != nil {
		select {
		case <-s.serves.Done():
			return
		case <-time.After(retryAfter):
		}
	}
}

// recordVanished says Exited, if the agent's process is still the one of that
// name: it may have been started again since.
func (s *Server) recordVanished(id, name string) error {
	s.resuming.Lock()
	defer s.resuming.Unlock()
	a, err := s.b.AwaitAgent(s.serves, id, func(broker.Agent) bool { return true })
	if err != nil || a.ProcessName() != name {
		return err
	}
	return s.gone(s.serves, a)
}

// gone removes what an agent's process that is gone has left, and says Exited.
func (s *Server) gone(ctx context.Context, a broker.Agent) error {
	s.Dismiss(a.ID)
	for _, left := range []string{AgentSocket(s.opt.Dir, a.ID), RelaySocket(AgentSocket(s.opt.Dir, a.ID))} {
		_ = os.Remove(left) // if it is there
	}
	exit := broker.Exit{Code: exitNoStart}
	if a.State != broker.Fired { // which says enough
		exit.Output = "pinfold: its process ended without a word"
	}
	return s.b.Exited(ctx, a.ID, exit)
}

// rejoin follows the processes again that an earlier server of this directory
// followed, and ends the agents of those that are gone. One that was fired
// and runs still hears of it through its socket.
func (s *Server) rejoin(ctx context.Context) error {
	running, err := s.b.Running(ctx)
	if err != nil {
		return err
	}
	for _, a := range running {
		pid, ours := s.numberIn(a.Process)
		if !ours {
			continue
		}
		p, err := openProcess(pid)
		switch {
		case err == nil && s.named(p) == a.ProcessName():
			s.follow(a.ID, p)
			err = s.admit(ctx, a.ID, false)
		case err == nil:
			err = errors.Join(p.Close(), s.gone(ctx, a))
		case errors.Is(err, os.ErrProcessDone):
			err = s.gone(ctx, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// numberIn is the number in a name that named has made in this directory.
func (s *Server) numberIn(name string) (pid int, ours bool) {
	var start, place uint64
	_, err := fmt.Sscanf(name, "process %d, since %d, of %x", &pid, &start, &place)
	return pid, err == nil && place == s.place
}
