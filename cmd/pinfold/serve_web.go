package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/webinbox"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// anyPort is what --web stands for without an address: the port that it was
// last, so that pages that are open go on, or else any.
const anyPort = "127.0.0.1:0"

// webFlag gives cmd the flag --web, whose value may be left out.
func webFlag(cmd *cobra.Command, address *string) {
	cmd.Flags().StringVar(address, "web", "", "show a page for the operator's browser, on `ADDR:PORT` of this machine (without one: a free port of 127.0.0.1)")
	cmd.Flags().Lookup("web").NoOptDefVal = anyPort
}

// webArgs are no arguments, but that an address may stand after --web, which by
// itself takes a value only behind a "=".
func webArgs(address *string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if *address == anyPort && len(args) == 1 {
			*address = args[0]
			return nil
		}
		return noArgs(cmd, args)
	}
}

// webPage shows the page on an address of this machine, and prints the link to
// it. The caller closes it; failed tells of a page that broke.
func (a *app) webPage(ctx context.Context, address string, opt webinbox.Options) (page *webinbox.Server, failed <-chan error, err error) {
	if address, err = loopback(address); err != nil {
		return nil, nil, err
	}
	l, err := webinbox.Listen(ctx, opt.Dir, address)
	if err != nil {
		return nil, nil, &exitError{code: exitFailed, err: err, hint: "name another port, or none: --web"}
	}
	if page, err = webinbox.New(l, opt); err != nil {
		return nil, nil, err
	}
	broke := make(chan error, 1)
	go func() {
		if err := page.Serve(); err != nil {
			broke <- err
		}
	}()
	a.out.stderr.printf("pinfold: the page: %s\n", page.Link())
	a.out.stderr.printf("pinfold: this link works once; the next one is in %s\n", pathresolver.EscapePath(page.LinkFile()))
	return page, broke, nil
}

// loopback holds an address of --web to this machine. "" is any port.
func loopback(address string) (string, error) {
	if address == "" || address == anyPort {
		return "", nil
	}
	host, port, err := net.SplitHostPort(address)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		return "", usageError(fmt.Errorf("--web %q: want an address and a port", address), "127.0.0.1:8903, for example")
	}
	if host == "localhost" {
		host = "127.0.0.1" // whatever the resolver makes of the name
	}
	if addr, err := netip.ParseAddr(host); err != nil || !addr.IsLoopback() {
		return "", usageError(fmt.Errorf("--web %q is no address of this machine alone", address),
			"use 127.0.0.1, and from elsewhere forward the port: ssh -L 8903:127.0.0.1:8903 HOST")
	}
	return net.JoinHostPort(host, port), nil
}
