package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/proposal"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/webinbox"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

type serveFlags struct {
	store  string
	dir    string
	http   string
	hosts  []string
	remote bool
	web    string
}

func newServe(a *app) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Run the broker: agents, what they ask for, and their messages",
		Long: `serve answers on a socket of its own for the operator, who is whoever starts it,
and on one for each agent. What it knows is in a database and outlives it; the
commands of agents that it started end with it. It ends by SIGINT or SIGTERM.`,
		Example: `  pinfold serve
  pinfold serve --web
  pinfold serve --store postgres://broker@db.example/pinfold --http 127.0.0.1:8902`,
		Args: webArgs(&f.web),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.http == "" && (f.remote || len(f.hosts) > 0) {
				return usageError(errors.New("--allow-host and --allow-remote are for --http"), seeHelp(cmd))
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			return serveBroker(ctx, a, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.store, "store", "", "keep what the broker knows in the PostgreSQL database of `URL`, instead of in a file in --state-dir")
	flags.StringVar(&f.dir, "state-dir", "", "the directory `PATH` for sockets, tokens and the database (default: beneath the user's state directory)")
	flags.StringVar(&f.http, "http", "", "answer also on `ADDR:PORT`, to whoever has an agent's token")
	flags.StringArrayVar(&f.hosts, "allow-host", nil, "a `NAME` that clients of --http may use for this machine, beside localhost (repeatable)")
	flags.BoolVar(&f.remote, "allow-remote", false, "let --http listen where other machines reach it; without TLS, so tokens are sent in the clear")
	webFlag(cmd, &f.web)
	_ = cmd.MarkFlagDirname("state-dir")
	return cmd
}

func serveBroker(ctx context.Context, a *app, f serveFlags) (err error) {
	if f.dir == "" {
		if f.dir, err = brokerDir(); err != nil {
			return &exitError{code: exitFailed, err: err, hint: "name a directory by --state-dir"}
		}
	}
	if err = refuseGiven("--state-dir", f.dir); err != nil {
		return err
	}
	if f.dir, err = filepath.Abs(f.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	store, err := openStore(ctx, f.dir, f.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	b, err := broker.New(ctx, broker.Options{Store: store})
	if err != nil {
		return err
	}
	defer b.Close()
	run := newRunner(b, f.dir, a.out)
	proposals := proposal.New(b, run.outside)
	logger := slog.New(slog.NewTextHandler(a.out.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	srv, err := brokerhttp.New(ctx, b, brokerhttp.Options{
		Dir: f.dir, Hosts: f.hosts, Before: run.bury, Launch: run.launch, Skill: run.callSkill, Propose: proposals.Of,
		Logger: logger,
	})
	if err != nil {
		return err
	}
	// The agents' commands end while the broker still hears of it.
	defer func() {
		run.close()
		err = errors.Join(err, srv.Close())
	}()
	run.resumes(srv)
	a.out.stderr.printf("pinfold: serving %s\n", pathresolver.EscapePath(brokerhttp.OperatorSocket(f.dir)))
	if f.http != "" {
		l, err := listen(ctx, f.http, f.remote)
		if err != nil {
			return err
		}
		if err := serveTCP(ctx, a, srv, l, f.remote); err != nil {
			return err
		}
	}
	var pageFailed <-chan error
	if f.web != "" {
		page, failed, err := webPage(ctx, a, f.web, webinbox.Options{Broker: b, Dir: f.dir, Propose: proposals.Of, Logger: logger})
		if err != nil {
			return err
		}
		defer func() { _ = page.Close() }() // nothing depends on it
		pageFailed = failed
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-srv.Failed():
		return err
	case err := <-pageFailed:
		return err
	}
}

func serveTCP(ctx context.Context, a *app, srv *brokerhttp.Server, l net.Listener, remote bool) error {
	if err := srv.ListenTCP(ctx, l); err != nil {
		return err
	}
	if remote {
		a.out.warning("whoever reaches " + l.Addr().String() + " and knows a token is that agent, and nothing on the way is encrypted")
	}
	a.out.stderr.printf("pinfold: serving http://%s, the operator's token is in %s\n", l.Addr(), pathresolver.EscapePath(srv.TokenFile("")))
	return nil
}

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
