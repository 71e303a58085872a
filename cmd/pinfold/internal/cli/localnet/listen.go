package localnet

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
)

// Listen opens the address of --http: a loopback one, unless remote.
func Listen(ctx context.Context, address string, remote bool) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return nil, cli.UsageError(fmt.Errorf("--http %q: want an address and a port", address), "127.0.0.1:8901, for example")
	}
	if host == "localhost" {
		host = "127.0.0.1" // whatever the resolver makes of the name
	}
	addr, err := netip.ParseAddr(host)
	switch {
	case host == "" && remote:
	case host == "":
		return nil, beyondLoopback(address)
	case err != nil:
		return nil, cli.UsageError(fmt.Errorf("--http %q: want an IP address or localhost", address), "")
	case !addr.IsLoopback() && !remote:
		return nil, beyondLoopback(address)
	}
	var c net.ListenConfig
	return c.Listen(ctx, "tcp", net.JoinHostPort(host, port))
}

func beyondLoopback(address string) error {
	return cli.UsageError(fmt.Errorf("--http %q can be reached from other machines", address),
		"listen on 127.0.0.1, and forward the port by ssh; or say --allow-remote")
}

// AnyPort is what --web stands for without an address: the port that it was
// last, so that pages that are open go on, or else any.
const AnyPort = "127.0.0.1:0"

// Loopback holds an address of --web to this machine. "" is any port.
func Loopback(address string) (string, error) {
	if address == "" || address == AnyPort {
		return "", nil
	}
	host, port, err := net.SplitHostPort(address)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		return "", cli.UsageError(fmt.Errorf("--web %q: want an address and a port", address), "127.0.0.1:8903, for example")
	}
	if host == "localhost" {
		host = "127.0.0.1" // whatever the resolver makes of the name
	}
	if addr, err := netip.ParseAddr(host); err != nil || !addr.IsLoopback() {
		return "", cli.UsageError(fmt.Errorf("--web %q is no address of this machine alone", address),
			"use 127.0.0.1, and from elsewhere forward the port: ssh -L 8903:127.0.0.1:8903 HOST")
	}
	return net.JoinHostPort(host, port), nil
}
