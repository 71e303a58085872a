// Package brokerhttp serves a broker over HTTP, and is its client.
//
//	srv, err := brokerhttp.New(ctx, b, brokerhttp.Options{Dir: dir})
//	if err != nil {
//		return err
//	}
//	defer srv.Close()
//
// and elsewhere, as whom PINFOLD_SOCKET or PINFOLD_TOKEN_FILE stands for:
//
//	at, err := brokerhttp.FromEnvironment(os.Getenv)
//	...
//	c, err := brokerhttp.NewClient(at)
//	...
//	r, err := c.Ask(ctx, brokerhttp.DecideBody{Action: access.FSWrite, Resource: "src/a.go"})
//	if err == nil {
//		r, err = c.Wait(ctx, r.ID)
//	}
//
// docs/schema/broker.openapi.yaml describes the API for other clients.
//
// # Who asks
//
// A connection has an owner before its first byte is read. The operator
// and each agent have a unix socket of their own, in directories that only the
// broker's user enters; a launcher shows an agent its own socket and no other.
// The kernel says who connected: another uid is refused, as is a process of
// another process namespace than the agent was first met in, and for the
// operator any but the broker's own. Over TCP a token says who asks; Host
// and Origin are checked, so that no web page is anybody. What a request says
// about its sender is compared with that, and believed never.
//
// # Guarantees
//
// A refusal is a *broker.Error on both sides, with the same code and text. Each
// peer has a bound on connections, on what it sends, and on how long that takes
// (limits.go). A client that waits goes on waiting through a restart of the
// broker.
//
// # Limits
//
// There is no TLS: what is beyond loopback needs a tunnel. An agent without a
// view of its own shares the uid of all others, and with it the rights to the
// directory of sockets: only a view keeps it from taking another's. Sockets
// need Linux 6.5; elsewhere New fails.
//
// # Locks
//
// Server.mu guards the table of sockets, tokens.mu that of tokens, listener.mu
// the namespace that was recorded. Server.mu is taken before tokens.mu.
package brokerhttp
