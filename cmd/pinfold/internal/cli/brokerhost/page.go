package brokerhost

import (
	"context"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/localnet"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/webinbox"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// ShowPage shows the page on an address of this machine, and prints the link to
// it. The caller closes it; failed tells of a page that broke.
func ShowPage(ctx context.Context, a *cli.App, address string, opt webinbox.Options) (page *webinbox.Server, failed <-chan error, err error) {
	if address, err = localnet.Loopback(address); err != nil {
		return nil, nil, err
	}
	l, err := webinbox.Listen(ctx, opt.Dir, address)
	if err != nil {
		return nil, nil, &cli.ExitError{Code: cli.ExitFailed, Err: err, Hint: "name another port, or none: --web"}
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
	a.Out.Stderr.Printf("pinfold: the page: %s\n", page.Link())
	a.Out.Stderr.Printf("pinfold: this link works once; the next one is in %s\n", pathresolver.EscapePath(page.LinkFile()))
	return page, broke, nil
}
