package agents

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
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerclient"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerhost"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/localnet"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
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
	keep   cli.ByteSize
	launch string
	allow  brokerhost.LaunchAllowed
}

// NewServe is the command serve.
func NewServe(a *cli.App) *cobra.Command {
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
				return cli.UsageError(errors.New("--allow-host and --allow-remote are for --http"), cli.SeeHelp(cmd))
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
	flags.Var(&f.keep, "keep", "keep at most `SIZE`, such as 64M, of one agent of each kind: refusals; allowed calls; requests, messages and agents (default 32M)")
	flags.StringVar(&f.launch, "launch", "", "launch profiles for the commands of agents, and what else they may have of the host, from `FILE`")
	flags.StringArrayVar(&f.allow.RO, "allow-ro", nil, "let agents show those that they hire `PATH` of the host and what lies beneath it, read-only (repeatable)")
	flags.StringArrayVar(&f.allow.Home, "allow-home", nil, "let agents give those that they hire homes that are kept, by names in `DIR` (repeatable)")
	flags.StringArrayVar(&f.allow.Env, "allow-env", nil, "let agents pass your variable `NAME` on to those that they hire, whose commands they choose (repeatable)")
	webFlag(cmd, &f.web)
	_ = cmd.MarkFlagFilename("launch", "yaml", "yml")
	_ = cmd.MarkFlagDirname("state-dir")
	return cmd
}

func serveBroker(ctx context.Context, a *cli.App, f serveFlags) (err error) {
	if f.dir == "" {
		if f.dir, err = state.BrokerDir(); err != nil {
			return &cli.ExitError{Code: cli.ExitFailed, Err: err, Hint: "name a directory by --state-dir"}
		}
	}
	if err = hostfile.Refuse("--state-dir", f.dir); err != nil {
		return err
	}
	if f.dir, err = filepath.Abs(f.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	store, err := brokerhost.OpenStore(ctx, f.dir, f.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	b, err := broker.New(ctx, broker.Options{Store: store, Keep: int64(f.keep)})
	if err != nil {
		return err
	}
	defer b.Close()
	run := brokerhost.NewRunner(b, f.dir, a.Out)
	if f.launch != "" {
		l, err := brokerhost.ReadLaunches(a.Out, f.launch)
		if err != nil {
			return err
		}
		run.Launches = *l
	}
	if err := run.Launches.Add(f.allow); err != nil {
		return err
	}
	proposals := proposal.New(b, run.Outside)
	logger := slog.New(slog.NewTextHandler(a.Out.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	srv, err := brokerhttp.New(ctx, b, brokerhttp.Options{
		Dir: f.dir, Hosts: f.hosts, Before: run.EndLost, Validate: run.Validate, Plan: run.Plan, Launch: run.Launch, Skill: run.CallSkill, Propose: proposals.Of,
		Logger: logger,
	})
	if err != nil {
		return err
	}
	// The agents' commands end while the broker still hears of it.
	defer func() {
		run.Close()
		err = errors.Join(err, srv.Close())
	}()
	run.Resumes(srv)
	a.Out.Stderr.Printf("pinfold: serving %s\n", pathresolver.EscapePath(brokerhttp.OperatorSocket(f.dir)))
	if f.http != "" {
		l, err := localnet.Listen(ctx, f.http, f.remote)
		if err != nil {
			return err
		}
		if err := serveTCP(ctx, a, srv, l, f.remote); err != nil {
			return err
		}
	}
	var pageFailed <-chan error
	if f.web != "" {
		page, failed, err := brokerhost.ShowPage(ctx, a, f.web, webinbox.Options{
			Broker: b, Dir: f.dir, Propose: proposals.Of, Logger: logger, Others: brokerclient.Beside(f.dir),
		})
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

func serveTCP(ctx context.Context, a *cli.App, srv *brokerhttp.Server, l net.Listener, remote bool) error {
	if err := srv.ListenTCP(ctx, l); err != nil {
		return err
	}
	if remote {
		a.Out.Warning("whoever reaches " + l.Addr().String() + " and knows a token is that agent, and nothing on the way is encrypted")
	}
	a.Out.Stderr.Printf("pinfold: serving http://%s, the operator's token is in %s\n", l.Addr(), pathresolver.EscapePath(srv.TokenFile("")))
	return nil
}

// webFlag gives cmd the flag --web, whose value may be left out.
func webFlag(cmd *cobra.Command, address *string) {
	cmd.Flags().StringVar(address, "web", "", "show a page for the operator's browser, on `ADDR:PORT` of this machine (without one: a free port of 127.0.0.1)")
	cmd.Flags().Lookup("web").NoOptDefVal = localnet.AnyPort
}

// webArgs are no arguments, but that an address may stand after --web, which by
// itself takes a value only behind a "=".
func webArgs(address *string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if *address == localnet.AnyPort && len(args) == 1 {
			*address = args[0]
			return nil
		}
		return cli.NoArgs(cmd, args)
	}
}
