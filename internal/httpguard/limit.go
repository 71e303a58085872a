package httpguard

import (
	"net"
	"sync"
)

// Limit is l with at most most connections open at a time. One too many waits
// until another is closed. Beneath has the connections of l.
func Limit(l net.Listener, most int) net.Listener {
	return limited{l, make(chan struct{}, most)}
}

type limited struct {
	net.Listener
	slots chan struct{}
}

func (l limited) Accept() (net.Conn, error) {
	l.slots <- struct{}{}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &counted{Conn: c, release: func() { <-l.slots }}, nil
}

// counted is a connection that holds a slot until it is closed.
type counted struct {
	net.Conn
	once    sync.Once
	release func()
}

func (c *counted) Close() error {
	c.once.Do(c.release)
	return c.Conn.Close()
}

// Beneath is the connection that the listener given to Limit accepted.
func Beneath(c net.Conn) net.Conn {
	if c, ok := c.(*counted); ok {
		return c.Conn
	}
	return c
}
