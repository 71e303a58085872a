package gateway

import (
	"net"
	"net/netip"
	"time"

	"github.com/pinfold-dev/pinfold/internal/egress"
)

// Where the command's network has what.
var (
	// Inside is the command's own address.
	Inside = netip.MustParseAddr("100.64.0.2")
	// Resolver answers for names, at port 53.
	Resolver = netip.MustParseAddr("100.64.0.1")
)

// MTU is the device's: long packets take less of the processor.
const MTU = 32000

// Config says what a gateway does.
type Config struct {
	// Rules are what may be connected to.
	Rules egress.Rules
	// Publish are listeners of the host, which the gateway closes, and the ports
	// inside that connections to them are passed on to.
	Publish []Published
	// Tell is told what happened, by one goroutine, which has ended when Close
	// returns.
	Tell func(Event)
}

// Published is a port inside that can be reached from outside.
type Published struct {
	Listener *net.TCPListener
	Port     uint16
}

// Event is a connection that ended, or was refused.
type Event struct {
	Time time.Time
	// Name is what was asked for: a name, or an address where no name is known.
	Name string
	Port uint16 // 0: it was only asked for the name
	// Refused says why, and is "" for a connection that was made. Allow is the host
	// that --allow-host would have to name; "" where it cannot be allowed.
	Refused string `json:",omitempty"`
	Allow   string `json:",omitempty"`
	// Failed says why an allowed connection could not be made.
	Failed string `json:",omitempty"`
	// Inbound is a connection to a published port.
	Inbound bool `json:",omitempty"`
	// Sent and Received are bytes, as the command sees them.
	Sent, Received int64
	// Shut stands alone: nothing goes out or comes in any more. It is not told.
	Shut bool `json:",omitempty"`
	// Omitted is how many events, at least, were not told before this one, because
	// there were too many.
	Omitted int `json:",omitempty"`
}
