package gateway

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"

	"github.com/pinfold-dev/pinfold/internal/egress"
)

// maxNames bounds the names that have an address: a rule for a domain allows as many as
// the command thinks of.
const maxNames = 65536

// names are the addresses that stand for names.
type names struct {
	mu     sync.Mutex
	byName map[string]netip.Addr
	byAddr map[netip.Addr]string
	next   netip.Addr
}

func newNames() names {
	return names{byName: map[string]netip.Addr{}, byAddr: map[netip.Addr]string{}, next: netip.MustParseAddr("100.64.1.0")}
}

// give returns the address that stands for a name, the same one each time.
func (n *names) give(name string) (netip.Addr, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if addr, ok := n.byName[name]; ok {
		return addr, true
	}
	if len(n.byName) == maxNames {
		return netip.Addr{}, false
	}
	addr := n.next
	n.next = addr.Next()
	n.byName[name], n.byAddr[addr] = addr, name
	return addr, true
}

func (n *names) of(addr netip.Addr) (name string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	name, ok = n.byAddr[addr]
	return name, ok
}

// serveNames answers DNS by UDP. By TCP connection does.
func (g *gateway) serveNames() error {
	at := tcpip.FullAddress{NIC: nic, Addr: tcpip.AddrFrom4(Resolver.As4()), Port: 53}
	conn, err := gonet.DialUDP(g.stack, &at, nil, ipv4.ProtocolNumber)
	if err != nil {
		return err
	}
	go func() {
		packet := make([]byte, 64<<10)
		for {
			n, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			if reply := g.reply(packet[:n]); reply != nil {
				_, _ = conn.WriteTo(reply, from) // it asks again
			}
		}
	}()
	return nil
}

// serveNamesOver answers DNS on a connection.
func (g *gateway) serveNamesOver(conn net.Conn) {
	defer func() { _ = conn.Close() }() // nothing is owed on it
	for {
		_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		packet := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(conn, packet); err != nil {
			return
		}
		reply := g.reply(packet)
		if reply == nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}

// seconds is how long an answer holds. It never changes.
const seconds = 60

// reply answers a request; nil: it is none.
func (g *gateway) reply(packet []byte) []byte {
	var parser dnsmessage.Parser
	asked, err := parser.Start(packet)
	if err != nil || asked.Response {
		return nil
	}
	h := dnsmessage.Header{ID: asked.ID, Response: true, RecursionDesired: asked.RecursionDesired, RecursionAvailable: true}
	q, err := parser.Question()
	if err != nil {
		h.RCode = dnsmessage.RCodeFormatError
		return build(h, nil, netip.Addr{})
	}
	if asked.OpCode != 0 || q.Class != dnsmessage.ClassINET {
		h.RCode = dnsmessage.RCodeRefused
		return build(h, &q, netip.Addr{})
	}
	name := egress.Fold(q.Name.String())
	if shut := g.isShut(); shut || !g.rules.Names(name) {
		if shut {
			g.tell(Event{Name: name, Refused: whyShut})
		} else if q.Type != dnsmessage.TypeAAAA { // which is asked for beside the other
			g.tell(Event{Name: name, Refused: "the host is not allowed", Allow: allowable(name, 443)})
		}
		h.RCode = dnsmessage.RCodeNameError
		return build(h, &q, netip.Addr{})
	}
	if q.Type != dnsmessage.TypeA {
		return build(h, &q, netip.Addr{}) // the name is there, and has none of these
	}
	addr, ok := g.names.give(name)
	if !ok {
		g.tell(Event{Name: name, Refused: "more names were asked for than a run can have"})
		h.RCode = dnsmessage.RCodeServerFailure
	}
	return build(h, &q, addr)
}

// build makes an answer. It is short enough for every way that it can go.
func build(h dnsmessage.Header, q *dnsmessage.Question, addr netip.Addr) []byte {
	b := dnsmessage.NewBuilder(nil, h)
	b.EnableCompression()
	var err error
	if q != nil {
		err = errors.Join(b.StartQuestions(), b.Question(*q))
	}
	if addr.IsValid() {
		rh := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: seconds}
		err = errors.Join(err, b.StartAnswers(), b.AResource(rh, dnsmessage.AResource{A: addr.As4()}))
	}
	reply, finished := b.Finish()
	if errors.Join(err, finished) != nil {
		return nil
	}
	return reply
}

// allowable is what --allow-host would have to name; "" where it would not take it.
func allowable(name string, port uint16) string {
	entry := name
	if port != 443 && port != 80 {
		entry = net.JoinHostPort(name, portText(port))
	}
	if _, err := egress.ParseRule(entry); err != nil {
		return ""
	}
	return entry
}
