// Package gateway is the only way out of a command's own network.
//
//	g, err := gateway.Start(gateway.Config{Rules: rules, Tell: tell})
//	err = g.Serve(device, dialer, listeners) // from the new network namespace
//	...
//	err = g.Close()
//
// The command's network namespace has one device, whose other end is a TCP/IP stack in
// a process of its own: gVisor's. That process answers for names that are allowed, with
// addresses that stand for them; a connection to such an address it makes itself, to
// what the name leads to. Everything else is refused at once. It has no rights but to
// use the network of the host: another user where root starts it, no files but those
// that say how names are resolved, no programs.
package gateway
