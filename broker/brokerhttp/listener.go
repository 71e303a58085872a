package brokerhttp

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"

	"github.com/pinfold-dev/pinfold/broker"
)

// identified is a connection whose owner is known: by the socket that it came
// through, and by what the kernel says of its other end. All agents of
// one user share a uid, so the uid alone proves nothing.
type identified struct {
	net.Conn
	who     broker.Identity // nobody, where each request says who asks by a token
	tcp     bool
	private bool  // made by this process, of whose other end the kernel therefore knows nothing
	refused error // why nothing is answered on it
}

// listener accepts the connections of one identity.
type listener struct {
	*net.UnixListener
	path   string
	who    broker.Identity
	inView bool // whose processes are never beside this one

	mu sync.Mutex
	ns uint64 // of the agent's processes; 0 until the first one connects
	// held keeps that namespace until the listener is closed, so that no other
	// can get its number.
	held   *os.File
	closed bool
}

// listenAs binds the socket of an identity at path, which lies in a directory
// that nobody else enters.
func listenAs(path string, who broker.Identity, inView bool) (*listener, error) {
	if err := removeStale(path); err != nil {
		return nil, err
	}
	name, done, err := shortName(path)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // Close does, by the path
	return &listener{UnixListener: l, path: path, who: who, inView: inView}, nil
}

// Close removes the socket. The server closes what an agent's end has closed
// just before once more: that is no error.
func (l *listener) Close() error {
	err := l.UnixListener.Close()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.held != nil {
		err = errors.Join(err, l.held.Close())
	}
	// The next server may have taken a dead socket away before.
	if gone := os.Remove(l.path); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// Accept returns connections with their owner.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.AcceptUnix()
	if err != nil {
		return nil, err
	}
	id := &identified{Conn: c, who: l.who}
	if p, err := peerOf(c); err != nil {
		id.refused = err
	} else {
		id.refused = l.judge(&p)
		if p.held != nil {
			_ = p.held.Close() // it was only looked at
		}
	}
	return id, nil
}

var errStranger = errors.New("this socket is another agent's")

// judge decides whether a peer is whom the socket belongs to. The operator is
// outside of every view; an agent stays in the process namespace in which it
// was first met, which is taken from p to be held.
func (l *listener) judge(p *peer) error {
	if int(p.uid) != os.Geteuid() {
		return fmt.Errorf("%w: it belongs to user %d, and user %d connected", errStranger, os.Geteuid(), p.uid)
	}
	own, held, err := processNamespace("self")
	if err != nil {
		return err
	}
	_ = held.Close() // it lasts as long as this process
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.who.Operator():
		l.ns = own
	case l.ns == 0 && !l.closed && (!l.inView || p.ns != own):
		l.ns, l.held, p.held = p.ns, p.held, nil
	}
	if p.ns != l.ns {
		return fmt.Errorf("%w: process %d connected from another process namespace", errStranger, p.pid)
	}
	return nil
}
