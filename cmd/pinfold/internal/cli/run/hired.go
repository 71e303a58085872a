package run

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerhost"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/child"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/gitbeside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/leftlog"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/viewhost"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/launchprofile"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// NewHiredView is how the broker starts itself again for an agent's view. It
// is hidden: 'pinfold run' is for people.
func NewHiredView(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:         "hired-view",
		Short:       "Run a hired agent's command in its view, for the broker",
		Hidden:      true,
		Args:        cli.NoArgs,
		Annotations: map[string]string{cli.OwnErrors: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			var v brokerhost.View
			line, err := child.Parent(&v)
			if err != nil {
				return cli.UsageError(errors.New("this command is the broker's own"), "'pinfold hire' starts an agent, 'pinfold run' a command")
			}
			ctx, stop := context.WithCancel(cmd.Context())
			defer stop()
			go func() { // the broker's end is ours
				_ = line.Hear(new(bool))
				stop()
			}()
			running := launcher.NewControl()
			runs := sync.OnceFunc(func() {
				_ = line.Tell(brokerhost.End{Runs: true}) // a broker that is gone needs no word
			})
			go func() {
				if running.Started() == nil {
					runs()
				}
			}()
			result, err := runHired(ctx, a, v, running)
			if err == nil && running.Started() == nil { // which is known for certain now
				runs() // before the end
			}
			end := brokerhost.End{Code: result.ExitCode, Signal: result.Signal, Reason: result.Reason}
			if err != nil {
				end.Code, end.Reason = cli.ExitRunOwn, err.Error()
			}
			return line.Tell(end)
		},
	}
}

// runHired is `pinfold run` without flags: the policy has been decided.
func runHired(ctx context.Context, a *cli.App, v brokerhost.View, running *launcher.Control) (launcher.Result, error) {
	asks, err := child.Inherited()
	if err != nil {
		return launcher.Result{}, err
	}
	defer func() { _ = asks.Close() }()                             // nothing is owed on it
	if v.Policy, err = hostfile.HidePrivate(v.Policy); err != nil { // as the agent is told it, too
		return launcher.Result{}, err
	}
	beside, err := gitbeside.Find(&v.Policy, "")
	if err != nil {
		return launcher.Result{}, err
	}
	defer beside.Close()
	if err := v.MayGit(beside.Root()); err != nil {
		return launcher.Result{}, err
	}
	r, err := brokerhost.OpenDir(v.Policy)
	if err != nil {
		return launcher.Result{}, err
	}
	defer func() { _ = r.Close() }() // holds descriptors, nothing to lose
	written := hostfile.Remember(a.Out, v.Home, r)
	viewhost.BecomeServer()
	client, err := brokerhttp.NewConnClient(asks)
	if err != nil {
		return launcher.Result{}, err
	}
	defer client.Close()
	f, told, denials := runFlags{}, &refused{kinds: map[refusalKind]int{}, hosts: map[hostKind]int{}}, viewhost.NewDenials(client)
	told.toldTo(denials)
	options := f.viewOptions(told)
	if viewhost.AsksAnything(v.Policy) {
		nothing := func() {} // the broker signals this process by itself
		asker := viewhost.Join(client, v.Agent, ownWaits, nothing, nothing)
		defer asker.Close() // the view is closed, and asks no more
		options.Ask, options.AskWait = asker, v.Wait
	}
	f.traces.Follow(r, &options)
	view, err := sandboxfs.New(r, options)
	if err != nil {
		return launcher.Result{}, err
	}
	if err := beside.Arrange(options, f.traces.Follow); err != nil {
		return launcher.Result{}, errors.Join(err, view.Close())
	}
	shown, err := inside.ShowPolicy(v.Policy, r, view.Arrangement(), beside.Show()...)
	if err != nil {
		return launcher.Result{}, errors.Join(err, view.Close())
	}
	stdin, err := taskInput(v.Stdin)
	if err != nil {
		return launcher.Result{}, errors.Join(err, view.Close())
	}
	defer func() { _ = stdin.Close() }() // nothing is owed on it
	c := launcher.Config{
		Resolver: r, View: view,
		Command: v.Command,
		Env:     append([]string{"PINFOLD_SOCKET=" + brokerhost.SocketInside}, v.Env...),
		Self:    "pinfold",
		RO:      v.RO, Home: v.Home, Written: written, Stdin: stdin,
		MaxTasks: v.MaxTasks, TmpSize: v.TmpSize,
		Private: slices.Concat(state.Private(), v.Private), KeptHomes: launchprofile.HomesDir(),
		Files: map[string][]byte{
			inside.PolicyFile: shown,
			inside.RulesFile:  inside.Rules(v.Policy, r, inside.RulesAbout{Asks: true, NoNetwork: v.NoNetwork, OnlyHosts: v.OnlyHosts, Hosts: v.Hosts, KeptHome: v.Home != ""}),
		},
		Stdout: cli.File(a.Out.Stdout.Writer), Stderr: cli.File(a.Out.Stderr.Writer),
		NoNetwork: v.NoNetwork,
		OnRefusal: told.fromKernel(),
		Control:   running,
		Confine:   true, Keep: state.Place(), // where what it left is remembered
		Grace: -1, // who fires it kills it, too
	}
	f.gitAuthor = v.GitAuthor
	if author := f.authorConfig(); len(author) > 0 {
		c.Files[authorFile] = author
		c.Env = append(c.Env, "GIT_CONFIG_GLOBAL="+authorFile)
	}
	showBroker(&c, v.Socket)
	beside.Into(&c)
	c.Env = append(c.Env, gitbeside.Environment(c.Env, os.LookupEnv, beside.Settings(v.Policy, r))...)
	if v.OnlyHosts && !v.NoNetwork {
		f.reach.net, f.reach.hosts = netAllow, v.Hosts
	}
	network, into, err := f.reach.gateway(told.network)
	if err != nil {
		_, closed := beside.CloseView()
		return launcher.Result{}, errors.Join(err, view.Close(), closed)
	}
	into(&c)
	result, err := launcher.Run(ctx, c)
	if network != nil {
		err = errors.Join(err, network.Close())
	}
	err = errors.Join(err, view.Close())
	dropped, closed := beside.CloseView()
	err = errors.Join(err, closed)
	if lost := denials.Close(view.Stats().RefusalsDropped+view.Stats().AsksDropped+dropped, result.Dropped); lost != nil {
		a.Out.Warning(lost.Error())
	}
	leftlog.Keep(a.Out, "", r, v.Command, f.traces.Left())
	return result, err
}

// taskInput is a file that reads as the text; nil for nil. It is made before this process
// gives its rights up, and nobody else has it.
func taskInput(text []byte) (*os.File, error) {
	if text == nil {
		return nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		_, _ = w.Write(text) // a command that reads no more needs no rest
		_ = w.Close()
	}()
	return r, nil
}
