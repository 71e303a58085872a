package gateway

import (
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/link/fdbased"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/tcpip/transport/udp"

	"github.com/pinfold-dev/pinfold/internal/egress"
)

const (
	nic         = 1
	maxWaiting  = 1024    // connections that are being made
	maxOpen     = 2048    // connections
	maxBuffer   = 4 << 20 // of a connection and direction, in bytes
	maxEvents   = 4096    // that wait to be told
	shortlyOver = time.Second
)

// gateway is what the process knows.
type gateway struct {
	rules    egress.Rules
	resolver *net.Resolver
	names    names
	stack    *stack.Stack
	device   *os.File      // kept: it would be closed otherwise
	open     chan struct{} // a token for each connection

	mu      sync.Mutex     // guards what follows
	flows   map[*flow]bool // nil: it is over
	omitted int
	ended   bool
	shut    bool           // for good
	ports   []net.Listener // published, and of the loopback inside
	events  chan Event
	told    chan struct{}
}

func newGateway(rules egress.Rules) *gateway {
	g := &gateway{
		rules: rules, resolver: &net.Resolver{PreferGo: true}, names: newNames(), open: make(chan struct{}, maxOpen),
		flows: map[*flow]bool{}, events: make(chan Event, maxEvents), told: make(chan struct{}),
	}
	go g.report()
	return g
}

// start serves the device.
func (g *gateway) start(device *os.File) error {
	g.device = device
	fd := int(device.Fd())
	if err := unix.SetNonblock(fd, true); err != nil {
		return err
	}
	link, err := fdbased.New(&fdbased.Options{FDs: []int{fd}, MTU: MTU, RXChecksumOffload: true})
	if err != nil {
		return err
	}
	s := stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol, udp.NewProtocol},
	})
	g.stack = s
	for _, step := range []func() tcpip.Error{
		func() tcpip.Error { return s.CreateNIC(nic, link) },
		func() tcpip.Error {
			at := tcpip.ProtocolAddress{Protocol: ipv4.ProtocolNumber, AddressWithPrefix: tcpip.AddrFrom4(Resolver.As4()).WithPrefix()}
			return s.AddProtocolAddress(nic, at, stack.AddressProperties{})
		},
		// It answers for every address, so that what is refused is so at once.
		func() tcpip.Error { return s.SetPromiscuousMode(nic, true) },
		func() tcpip.Error { return s.SetSpoofing(nic, true) },
		func() tcpip.Error { return tcpOptions(s) },
	} {
		if err := step(); err != nil {
			return errors.New(err.String())
		}
	}
	s.SetRouteTable([]tcpip.Route{{Destination: header.IPv4EmptySubnet, NIC: nic}})
	connections := tcp.NewForwarder(s, 0, maxWaiting, g.connection)
	s.SetTransportProtocolHandler(tcp.ProtocolNumber, connections.HandlePacket)
	// What is not handled is answered by the stack: the port is unreachable.
	s.SetTransportProtocolHandler(udp.ProtocolNumber, udp.NewForwarder(s, g.datagram).HandlePacket)
	return g.serveNames()
}

// tcpOptions gives connections room, and has their ports free again at once: the command
// takes them for the next connection as soon as its own side is done with them.
func tcpOptions(s *stack.Stack) tcpip.Error {
	sack, moderate := tcpip.TCPSACKEnabled(true), tcpip.TCPModerateReceiveBufferOption(true)
	wait, linger, reuse := tcpip.TCPTimeWaitTimeoutOption(time.Millisecond), tcpip.TCPLingerTimeoutOption(shortlyOver), tcpip.TCPTimeWaitReuseGlobal
	receive := tcpip.TCPReceiveBufferSizeRangeOption{Min: 4 << 10, Default: 1 << 20, Max: maxBuffer}
	send := tcpip.TCPSendBufferSizeRangeOption{Min: 4 << 10, Default: 1 << 20, Max: maxBuffer}
	for _, o := range []tcpip.SettableTransportProtocolOption{&sack, &moderate, &wait, &linger, &reuse, &receive, &send} {
		if err := s.SetTransportProtocolOption(tcp.ProtocolNumber, o); err != nil {
			return err
		}
	}
	return nil
}

// datagram tells of a datagram that is refused: DNS to us has a handler of its own.
func (g *gateway) datagram(r *udp.ForwarderRequest) bool {
	to, port := target(r.ID())
	why := "UDP leads nowhere but to the run's own resolver"
	if port == 53 {
		why = "names are answered by the run's own resolver alone"
	}
	g.tell(Event{Name: g.nameOf(to), Port: port, Refused: why})
	return false
}

// target is where a packet of the command's goes to.
func target(id stack.TransportEndpointID) (netip.Addr, uint16) {
	return netip.AddrFrom4(id.LocalAddress.As4()), id.LocalPort
}

// nameOf is the name that an address stands for, or the address.
func (g *gateway) nameOf(addr netip.Addr) string {
	if name, ok := g.names.of(addr); ok {
		return name
	}
	return addr.String()
}

// tell never waits: what is too much is counted.
func (g *gateway) tell(e Event) {
	e.Time = time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return
	}
	e.Omitted = g.omitted
	select {
	case g.events <- e:
		g.omitted = 0
	default:
		g.omitted++
	}
}

// report tells what happened outside.
func (g *gateway) report() {
	defer close(g.told)
	for e := range g.events {
		data, err := json.Marshal(e)
		for err == nil {
			if err = unix.Sendmsg(fdControl, data, nil, nil, unix.MSG_NOSIGNAL); err != unix.EINTR {
				break
			}
			err = nil
		}
	}
}

// whyShut is why everything is refused once it is shut.
const whyShut = "the network was closed for good"

// isShut reports whether nothing may go out or come in any more.
func (g *gateway) isShut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut
}

// shutdown ends every connection and has no other made, and says so. What was on its way
// out by then was so before whoever asked for this went on.
func (g *gateway) shutdown() error {
	g.mu.Lock()
	g.shut = true
	ports := g.ports
	g.ports = nil
	var cuts []func()
	for f := range g.flows {
		cuts = append(cuts, f.cut)
	}
	g.mu.Unlock()
	for _, l := range ports {
		_ = l.Close() // it may have failed
	}
	for _, cut := range cuts {
		cut()
	}
	data, err := json.Marshal(Event{Shut: true})
	if err != nil {
		return err
	}
	for {
		if err := unix.Sendmsg(fdControl, data, nil, nil, unix.MSG_NOSIGNAL); err != unix.EINTR {
			return err
		}
	}
}

// end tells of the connections that there are, too.
func (g *gateway) end() {
	g.mu.Lock()
	flows := g.flows
	g.flows = nil
	g.mu.Unlock()
	for f := range flows {
		g.tell(f.event())
	}
	g.mu.Lock()
	g.ended = true
	close(g.events)
	g.mu.Unlock()
	<-g.told
}
