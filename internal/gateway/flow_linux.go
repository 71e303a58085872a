package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/waiter"
)

const (
	dialOne   = 10 * time.Second // for one address of a name
	dialAll   = 30 * time.Second // with its resolution
	copyChunk = 128 << 10
)

// stream is one side of a connection.
type stream interface {
	net.Conn
	CloseWrite() error
}

// flow is a connection that is passed on.
type flow struct {
	name           string
	port           uint16
	inbound        bool
	cut            func() // resets both sides
	sent, received atomic.Int64
}

func (f *flow) event() Event {
	return Event{Name: f.name, Port: f.port, Inbound: f.inbound, Sent: f.sent.Load(), Received: f.received.Load()}
}

func portText(port uint16) string { return strconv.Itoa(int(port)) }

// connection decides about a connection that the command makes. It has a goroutine of
// its own.
func (g *gateway) connection(r *tcp.ForwarderRequest) {
	addr, port := target(r.ID())
	if addr == Resolver && port == 53 {
		if conn, _, ok := accept(r); ok {
			g.serveNamesOver(conn)
		}
		return
	}
	name, refusal := g.judge(addr, port)
	if g.isShut() {
		refusal = &Event{Name: g.nameOf(addr), Port: port, Refused: whyShut}
	}
	if refusal != nil {
		r.Complete(true)
		g.tell(*refusal)
		return
	}
	select {
	case g.open <- struct{}{}:
		defer func() { <-g.open }()
	default:
		r.Complete(true)
		g.tell(Event{Name: name, Port: port, Refused: "there are too many connections already"})
		return
	}
	out, refusal := g.dial(name, addr, port)
	if refusal != nil {
		r.Complete(true)
		g.tell(*refusal)
		return
	}
	in, reset, ok := accept(r)
	if !ok {
		_ = out.Close()
		return
	}
	g.pass(&flow{name: name, port: port}, in, reset, out, watcher{names: []string{name}})
}

// judge says what a connection is for, or why it is refused.
func (g *gateway) judge(addr netip.Addr, port uint16) (name string, refusal *Event) {
	name, ok := g.names.of(addr)
	switch {
	case ok && g.rules.Allows(name, port):
		return name, nil
	case ok:
		return name, &Event{Name: name, Port: port, Refused: "the port of this host is not allowed", Allow: allowable(name, port)}
	case g.rules.AllowsAddr(addr, port):
		return addr.String(), nil
	}
	return "", &Event{Name: addr.String(), Port: port, Refused: "the address was not given for a name", Allow: allowable(addr.String(), port)}
}

// dial connects to what a name leads to, or to an address that was named.
func (g *gateway) dial(name string, addr netip.Addr, port uint16) (stream, *Event) {
	ctx, cancel := context.WithTimeout(context.Background(), dialAll)
	defer cancel()
	failed := func(err error) *Event { return &Event{Name: name, Port: port, Failed: err.Error()} }
	addrs := []netip.Addr{addr}
	if name != addr.String() {
		var err error
		if addrs, err = g.resolver.LookupNetIP(ctx, "ip", name+"."); err != nil {
			return nil, failed(err)
		}
		if len(addrs) == 0 {
			return nil, failed(errors.New("the name has no address"))
		}
		first := addrs[0].Unmap()
		addrs = slices.DeleteFunc(addrs, func(a netip.Addr) bool { return !g.rules.Dialable(a, port) })
		if len(addrs) == 0 {
			return nil, &Event{Name: name, Port: port, Refused: fmt.Sprintf("it leads to %s, which is no address of the internet", first),
				Allow: allowable(first.String(), port)}
		}
		slices.SortStableFunc(addrs, func(a, b netip.Addr) int { return a.Unmap().BitLen() - b.Unmap().BitLen() })
	}
	d := net.Dialer{Timeout: dialOne}
	var all error
	for _, a := range addrs {
		conn, err := d.DialContext(ctx, "tcp", netip.AddrPortFrom(a.Unmap(), port).String())
		if err == nil {
			return conn.(*net.TCPConn), nil
		}
		all = errors.Join(all, err)
	}
	return nil, failed(all)
}

// accept makes the command's side of a connection. reset ends it with an error.
func accept(r *tcp.ForwarderRequest) (conn stream, reset func(), ok bool) {
	var queue waiter.Queue
	ep, err := r.CreateEndpoint(&queue)
	r.Complete(err != nil)
	if err != nil {
		return nil, nil, false
	}
	ep.SocketOptions().SetKeepAlive(true)
	ep.SocketOptions().SetDelayOption(false)
	return gonet.NewTCPConn(&queue, ep), func() { abort(ep) }, true
}

func abort(ep tcpip.Endpoint) { ep.Abort() }

// pass passes bytes on until both sides are done. in is the side that began.
func (g *gateway) pass(f *flow, in stream, reset func(), out stream, watch watcher) {
	cut := func() {
		reset()
		if c, ok := out.(*net.TCPConn); ok {
			_ = c.SetLinger(0)
		}
		_ = out.Close()
	}
	f.cut = cut
	g.mu.Lock()
	shut := g.shut
	if g.flows != nil && !shut {
		g.flows[f] = true
	}
	g.mu.Unlock()
	if shut { // while it was made
		cut()
		_ = in.Close()
		g.tell(Event{Name: f.name, Port: f.port, Inbound: f.inbound, Refused: whyShut})
		return
	}
	back, answer := make(chan struct{}), make(chan []byte, 1)
	watch.answer = answer
	go func() {
		_, err := io.CopyBuffer(onlyWriter{in}, &opening{counting{out, &f.received}, answer}, make([]byte, copyChunk))
		if err == nil {
			_ = in.CloseWrite() // or it is closed
		} else {
			cut()
		}
		close(answer)
		close(back)
	}()
	err := watch.copy(onlyWriter{out}, counting{in, &f.sent})
	if err == nil {
		_ = out.CloseWrite()
	} else {
		cut()
	}
	<-back
	_ = in.Close()
	_ = out.Close()
	g.mu.Lock()
	known := g.flows[f]
	delete(g.flows, f)
	g.mu.Unlock()
	var bad *mismatch
	if errors.As(err, &bad) {
		e := f.event()
		e.Refused, e.Allow = bad.Error(), allowable(bad.host, f.port)
		g.tell(e)
	} else if known {
		g.tell(f.event())
	}
}

// onlyWriter hides ReadFrom, by which the kernel would copy what nobody has counted.
type onlyWriter struct{ io.Writer }

// counting counts what is read.
type counting struct {
	from io.Reader
	n    *atomic.Int64
}

func (c counting) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// opening tells how what is read begins.
type opening struct {
	counting
	told chan<- []byte // nil: it was
}

func (o *opening) Read(p []byte) (int, error) {
	n, err := o.counting.Read(p)
	if o.told != nil && n > 0 {
		o.told <- bytes.Clone(p[:min(n, 32)])
		o.told = nil
	}
	return n, err
}

// loopback passes what connects to a port of the command's own loopback on to the
// host's. l is a listener in the command's network.
func (g *gateway) loopback(l *os.File, port uint16) error {
	own := watcher{names: []string{"localhost", "127.0.0.1", "[::1]", "*.localhost"}}
	return g.each(l, func(in *net.TCPConn) {
		addr := netip.AddrFrom4([4]byte{127, 0, 0, 1})
		out, refusal := g.dial(addr.String(), addr, port)
		if refusal != nil {
			refusal.Name = "localhost"
			g.tell(*refusal)
			return
		}
		g.pass(&flow{name: "localhost", port: port}, in, func() { resetTCP(in) }, out, own)
	})
}

// publish passes what connects to a port of the host on to one of the command's.
func (g *gateway) publish(l *os.File, port uint16, d *dialer) error {
	return g.each(l, func(in *net.TCPConn) {
		out, err := d.dial(port)
		if err != nil {
			g.tell(Event{Name: "localhost", Port: port, Inbound: true, Failed: err.Error()})
			return
		}
		g.pass(&flow{name: "localhost", port: port, inbound: true}, in, func() { resetTCP(in) }, out, watcher{})
	})
}

// each handles each connection of a listener, and resets those for which do has not
// closed.
func (g *gateway) each(f *os.File, do func(*net.TCPConn)) error {
	l, err := listener(f)
	if err != nil {
		return err
	}
	g.mu.Lock()
	shut := g.shut
	g.ports = append(g.ports, l)
	g.mu.Unlock()
	if shut {
		return l.Close()
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ECONNABORTED) {
					time.Sleep(10 * time.Millisecond)
					continue
				}
				return
			}
			go func() {
				in := conn.(*net.TCPConn)
				defer resetTCP(in)
				if g.isShut() {
					return
				}
				select {
				case g.open <- struct{}{}:
					defer func() { <-g.open }()
					do(in)
				default:
				}
			}()
		}
	}()
	return nil
}

// resetTCP ends a connection with an error, unless it is closed.
func resetTCP(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}
