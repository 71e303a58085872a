package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
)

// listen opens the address of --http: a loopback one, unless remote.
func listen(ctx context.Context, address string, remote bool) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return nil, usageError(fmt.Errorf("--http %q: want an address and a port", address), "127.0.0.1:8901, for example")
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
		return nil, usageError(fmt.Errorf("--http %q: want an IP address or localhost", address), "")
	case !addr.IsLoopback() && !remote:
		return nil, beyondLoopback(address)
	}
	var c net.ListenConfig
	return c.Listen(ctx, "tcp", net.JoinHostPort(host, port))
}

func beyondLoopback(address string) error {
	return usageError(fmt.Errorf("--http %q can be reached from other machines", address),
		"listen on 127.0.0.1, and forward the port by ssh; or say --allow-remote")
}
