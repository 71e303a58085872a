// Package webinbox is the operator's page: the tree of agents, what they ask
// for, the grants in force, and the audit, in a browser on the same
// machine.
//
//	srv, err := webinbox.New(listener, webinbox.Options{Broker: b, Dir: dir, Propose: maker.Of})
//	if err != nil {
//		return err
//	}
//	defer srv.Close()
//	fmt.Println(srv.Link())
//	return srv.Serve()
//
// # Who is let in
//
// The first to open the link: its token stands behind the #, so that no
// server, proxy or Referer sees it, and is exchanged for two secrets. One is a
// cookie that no script reads; the other the page keeps in its own origin's
// storage and sends in a header. Each call needs both. The cookie alone is sent
// to every port of this machine, so it proves too little; the header cannot be
// sent by another origin (CSRF). The link that works next stands in a file that
// only this user reads (LinkFile).
//
// # Guarantees
//
// The listener is on loopback. A Host that is no name of this machine is refused
// (DNS rebinding), as is an Origin that is not the page's own. Nothing that an
// agent said is markup: it is sent as JSON with control characters and what
// reorders text escaped, and shown as text by scripts that, by the policy of the
// page (Trusted Types), cannot make markup of a string. An approval is bound to
// the digest of the request that was on the screen.
//
// # Limits
//
// Whoever has this user's rights outside of a view can read the file with the
// link. There is no TLS: while no broker runs, another user of the machine could
// take the port, and a page that is reloaded then would be theirs. Sessions end
// after sessionTime.
//
// # Locks
//
// sessions.mu guards the table of sessions and the link, and is held while the
// file is written. Nothing is called while it is held.
package webinbox
