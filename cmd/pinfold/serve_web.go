package main

import (
	"context"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/webinbox"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// webPage shows the page on an address of this machine, and prints the link to
// it. The caller closes it; failed tells of a page that broke.
func webPage(ctx context.Context, a *app, address string, opt webinbox.Options) (page *webinbox.Server, failed <-chan error, err error) {
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
