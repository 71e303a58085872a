package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/caches"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/gitbeside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/leftlog"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/live"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/projectfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/viewhost"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/launchprofile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/learned"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/leftover"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

type runFlags struct {
	policyflag.Flags
	limits     limitFlags
	ro         []string
	home       string
	caches     []string
	user       string
	env        []string
	secrets    secretFlags
	sockets    socketFlags
	devices    []string
	reach      networkFlags
	report     string
	failOnDeny bool
	failOnLeft leftlog.Flag
	background bool
	nested     bool
	noSandbox  bool
	approve    string
	quiet      bool
	app        string
	mcp        bool
	dryRun     bool
	noProject  bool
	name       string
	gitAuthor  bool

	started   func()                     // ends what was put off until the command runs
	live      *live.Run                  // how other commands find this run; nil: they cannot
	project   *projectfile.File          // whose part run was taken; nil: none
	trusted   bool                       // it is, and so what widens was taken as well
	ofProject policies.ProjectRun        // what project says, without what flags stand in the place of
	profile   *launchprofile.Profile     // of app; nil: none
	args      []string                   // the user's own for it
	rules     []byte                     // what a model is told of this run
	found     launchprofile.Installation // of profile
	beside    *gitbeside.Dir             // what --git opens outside of the project, once that is known
	traces    viewhost.Traces            // of what is changed
	written   []string                   // places that runs, and this one, could write
	planned   []caches.Plan              // of the caches that are shown
	held      []*caches.Held             // their layers
	learned   *learned.Record            // of learn, for which it is run; nil: of nobody
	ran       bool                       // the command was started
}

// New is the command run.
func New(a *cli.App) *cobra.Command {
	var f runFlags
	cmd := newRun(a, &f, &cobra.Command{
		Use:   "run [flags] -- CMD [ARG]...",
		Short: "Run a command that reads only beneath DIR and writes only beneath the write paths",
		Long: `run shows CMD the directory DIR at its own path, system directories read-only,
and a private /tmp and home; nothing else of the host's files exists for it, but
for what /sys says of the processors, and dpkg's list of packages.
It may write beneath the write paths and nowhere else in DIR. The network is the
host's, unless --net none or a policy that is named takes it away, or --allow-host
names the hosts that may be reached.

The exit code is CMD's own, 128 plus the signal that ended it, 127 when it was
not found, 126 when it cannot be executed, and 125 for every error of pinfold's
own: CMD did not run then. It is 124 when the time of --time was over. Where it would be 0, but CMD's output could not be
written, as on a full disk, it is 1.`,
		Example: `  pinfold run --git --write-path src -- bash
  pinfold run -w . --hide '**/.env' -- npm test
  pinfold run -w out --ro ~/sdk/go --report refused.jsonl -- make
  pinfold run --app claude -- --resume`,
	})
	cmd.Flags().StringVar(&f.app, "app", "", "start the agent of the launch profile `NAME`: "+strings.Join(launchprofile.Builtins(), ", ")+" or your own; after -- stand its arguments")
	_ = cmd.RegisterFlagCompletionFunc("app", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return launchprofile.Names(), cobra.ShellCompDirectiveNoFileComp
	})
	cli.Heading(cmd, "Flags", "app")
	return cmd
}

// newRun makes cmd a command that runs what its arguments and its flags say.
func newRun(a *cli.App, f *runFlags, cmd *cobra.Command) *cobra.Command {
	cmd.Annotations = map[string]string{cli.OwnErrors: "yes"}
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 && f.app == "" {
			return cli.UsageError(errors.New("no command is given"), "pinfold run [flags] -- CMD [ARG]...")
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.home == "" && cmd.Flags().Changed("home") {
			return cli.UsageError(errors.New("--home is empty"), "name a directory, or leave it out for a private home that is empty")
		}
		return runCommand(cmd, a, f, args)
	}
	f.AddRoot(cmd)
	f.Add(cmd)
	flags := cmd.Flags()
	flags.SetInterspersed(false) // what follows CMD belongs to CMD
	flags.StringArrayVar(&f.ro, "ro", nil, "show `PATH` of the host inside, read-only, at its own path (repeatable)")
	flags.StringVar(&f.home, "home", "", "show `DIR` as the home directory inside, writable, instead of a private empty one")
	f.cacheFlag(cmd)
	flags.StringVar(&f.user, "user", "", "as root: run CMD as the user `NAME`")
	flags.StringArrayVar(&f.env, "env", nil, "pass `KEY[=VAL]` on to CMD, besides the few variables that always are (repeatable)")
	flags.BoolVar(&f.gitAuthor, "git-author", false, "let git inside know your name, your e-mail and such settings of yours, without the rest of ~/.gitconfig")
	flags.StringVar(&f.report, "report", "", "append a JSON line to `FILE` for the launch, for each refusal, and for what was left")
	flags.BoolVar(&f.failOnDeny, "fail-on-deny", false, "exit with 123 when anything was refused, or came too fast to be judged")
	flags.Var(&f.failOnLeft, "fail-on-left", "exit with 122 when CMD left something that can act later, or something of these `KIND`s (see 'pinfold left')")
	flags.Lookup("fail-on-left").NoOptDefVal = "all"
	flags.BoolVar(&f.background, "wait-background", false, "wait for CMD's background processes instead of ending them")
	flags.BoolVar(&f.nested, "nested", false, "let CMD start sandboxes of its own, such as 'pinfold run'; without Landlock, with namespaces, and not as root")
	flags.BoolVar(&f.noSandbox, "no-sandbox", false, "for finding out whether pinfold is in the way: run CMD with all of your rights; announced, and recorded for 'pinfold logs'")
	f.limits.add(cmd)
	f.reach.add(cmd)
	f.secrets.add(cmd)
	f.sockets.add(cmd)
	flags.StringArrayVar(&f.devices, "device", nil, "let CMD use a device of the host: `PATH` of graphics, computing or sound, of /dev/kvm, a camera or a serial line (repeatable)")
	f.approveFlag(cmd)
	flags.BoolVar(&f.mcp, "mcp", false, "connect 'pinfold mcp' to the agent, whose refusals say why and whose calls wait for an answer; by itself where something is asked for")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no line about the policy, and on a terminal no hints and no summary")
	flags.BoolVar(&f.noProject, "no-project", false, "take nothing from the project's .pinfold.yaml")
	flags.StringVar(&f.name, "name", "", "call the run `NAME`, besides its id, for 'pinfold ps', stop, exec and the like")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the line that would be run, and what it could read and write, and start nothing")
	cli.Heading(cmd, "Flags", "git-author", "ro", "home", "cache", "env", "secret", "secret-file", "socket", "device", "approve", "mcp")
	cli.Heading(cmd, "What is told", "dry-run", "report", "fail-on-deny", "fail-on-left", "quiet")
	cli.Heading(cmd, "The policy in detail", "no-project")
	cli.Heading(cmd, "Users, processes and limits", "name", "user", "wait-background", "time", "grace", "pids", "memory", "cpu", "tmp-size", "nested", "no-sandbox")
	return cmd
}

func runCommand(cmd *cobra.Command, a *cli.App, f *runFlags, args []string) error {
	ctx := cmd.Context()
	f.started = viewhost.StartFast()
	defer f.started() // also where nothing is started
	if err := f.refuseDashes(); err != nil {
		return err
	}
	if err := f.limits.check(); err != nil {
		return err
	}
	if err := f.reach.check(); err != nil {
		return err
	}
	if err := f.takeProject(cmd.Flags(), a.Out); err != nil {
		return err
	}
	command, err := f.useProfile(cmd.Flags(), a.Out, args)
	if err != nil {
		return err
	}
	if f.noSandbox && !f.dryRun {
		return f.unconfined(a, command)
	}
	cfg, err := f.Config(nil)
	if err != nil {
		return err
	}
	cfg.Widens = true // by 'pinfold allow'
	if err := f.secrets.read(a.Out, cfg.Root, f.env, f.quiet); err != nil {
		return err
	}
	if err := f.sockets.resolve(cfg.Root, f.env); err != nil {
		return err
	}
	if cfg, err = hostfile.HideFiles(cfg, f.secrets.sources); err != nil {
		return err
	}
	if err := f.reach.within(f.Held); err != nil {
		return err
	}
	if f.beside, err = gitbeside.Find(&cfg, f.user); err != nil {
		return err
	}
	defer f.beside.Close()
	if err := f.checkAfterRead(cfg); err != nil {
		return err
	}
	asked := cfg.AskRead
	cfg, r, err := policyflag.Open(f.withAfterRead(cfg), a.Out)
	if err != nil && f.reach.after != nil {
		err = fmt.Errorf("with --after-read, whose globs are ask_read here: %w", err)
	}
	if err != nil {
		return err
	}
	cfg.AskRead = asked              // nobody is asked for what --after-read names
	defer func() { _ = r.Close() }() // holds descriptors, nothing to lose
	f.warnNoNetwork(a.Out)
	f.sockets.warn(a.Out)
	a.Out.WarnUnset(f.env)
	f.rules = inside.Rules(cfg, r, f.rulesAbout(f.asks(cfg)))
	if command, err = f.tellModel(cmd.Flags(), a.Out, f.asks(cfg), command); err != nil {
		return err
	}
	if err := f.findCaches(); err != nil {
		return err
	}
	if f.dryRun {
		f.printDry(cmd.Flags(), a.Out, cfg, r, command)
		return nil
	}
	if err := f.makeKeptHome(a.Out); err != nil {
		return err
	}
	f.written = hostfile.Remember(a.Out, f.home, r)
	refused, err := f.newRefused(a.Out, r)
	if err != nil {
		return err
	}
	if err := f.holdCaches(a.Out, r.Root()); err != nil {
		return err
	}
	defer f.releaseCaches()
	if err := f.begin(a.Out, r, refused, command); err != nil {
		return err
	}
	defer f.live.Close()
	if !f.quiet {
		f.TellPolicy(a.Out) // wherever stderr goes: what a script has launched is to be found later
	}
	watched := a.Out.Stderr.Terminal && !f.quiet
	if watched {
		f.tellProfile(a.Out, r)
		f.tellProject(a.Out)
		f.tellHost(a.Out)
		f.beside.Tell(a.Out)
		policyflag.PrintProblems(a.Out, policyflag.Warnings(f.Found))
		f.hints(a.Out, cfg, r, command)
	}
	lacked := ofOthers(r)
	result, problem, err := f.inView(ctx, a, cfg, r, refused, command)
	f.ran = err == nil && result.ExitCode != cli.ExitNotFound && result.ExitCode != cli.ExitNotExec
	refused.limited(result)
	left := f.traces.Left()
	refused.left(left)
	problem = errors.Join(problem, refused.close())
	if err != nil {
		return errors.Join(f.explained(err), problem)
	}
	saved := leftlog.Keep(a.Out, f.live.ID(), r, command, left)
	if problem != nil {
		a.Out.Error(problem.Error()) // the command has run: its exit code stands
	}
	for _, lost := range result.Lost {
		a.Out.Warning("not guaranteed here: " + lost)
	}
	if result.Reason != "" {
		a.Out.Error(result.Reason)
		if result.ExitCode == cli.ExitNotFound {
			if hint := f.inTheWay(); hint != "" {
				a.Out.Hint(hint)
			} else {
				a.Out.Hint(f.hintOutside(a, r, command[0]))
			}
			if f.profile == nil && slices.Contains(launchprofile.Builtins(), command[0]) {
				a.Out.Hint("'pinfold " + command[0] + "' starts it with all that it needs, and a home that is kept")
			}
		}
	}
	for _, err := range result.Unwritten {
		a.Out.Error(err.Error())
	}
	if watched {
		refused.summary(a.Out, f.remedy, lacked, openOutside)
		leftlog.Tell(a.Out, r.Root(), left, saved)
	}
	refused.warn(a.Out)
	code := f.exitCode(result.ExitCode, refused, left)
	f.live.End(code, saved)
	return cli.Silent(code)
}

// exitCode is the command's own, unless something was refused under --fail-on-deny, or
// may have been: a command can drown its refusals in other attempts. --fail-on-left
// comes after that.
func (f *runFlags) exitCode(own int, refused *refused, left leftover.Left) int {
	switch {
	case f.failOnDeny && (refused.total > 0 || refused.dropped > 0):
		return cli.ExitDenied
	case f.failOnLeft.Fails(left):
		return cli.ExitLeft
	}
	return own
}

// rulesAbout is what a model is told of this run, beside the policy.
func (f *runFlags) rulesAbout(asks bool) inside.RulesAbout {
	about := inside.RulesAbout{Asks: asks, NoNetwork: f.NoNetwork(), KeptHome: f.home != "", Caches: f.caches, Given: f.given()}
	if f.reach.after != nil {
		about.AfterRead = f.reach.afterRead
	}
	if f.reach.net == netAllow {
		about.OnlyHosts, about.Hosts = true, f.reach.hosts
	}
	return about
}

// NoNetwork reports whether the command has no network, by the policy or by --net.
func (f *runFlags) NoNetwork() bool { return f.reach.net == netNone || f.Flags.NoNetwork() }

// RefuseDashes looks at the flags that only run has.
func (f *runFlags) refuseDashes() error {
	return cmp.Or(
		cli.RefuseDashes("--ro", f.ro...), cli.RefuseDashes("--after-read", f.reach.afterRead...), cli.RefuseDashes("--home", f.home), cli.RefuseDashes("--cache", f.caches...), cli.RefuseDashes("--user", f.user), cli.RefuseDashes("--env", f.env...),
		cli.RefuseDashes("--secret", f.secrets.variables...), cli.RefuseDashes("--secret-file", f.secrets.files...), cli.RefuseDashes("--socket", f.sockets.given...), cli.RefuseDashes("--device", f.devices...),
		cli.RefuseDashes("--report", f.report), cli.RefuseDashes("--approve", f.approve), cli.RefuseDashes("--app", f.app), cli.RefuseDashes("--name", f.name),
	)
}

// inView makes the view, with whoever answers for it, and runs the command
// inside. err says that the command did not run, problem what went wrong besides.
func (f *runFlags) inView(ctx context.Context, a *cli.App, cfg pathresolver.Config, r *pathresolver.Resolver, refused *refused, command []string) (result launcher.Result, problem, err error) {
	who, err := f.answers(ctx, a, cfg, r, command)
	if err != nil {
		return result, nil, err
	}
	if who != nil && who.denials != nil {
		refused.toldTo(who.denials)
	}
	options := f.viewOptions(refused)
	if who != nil {
		options.Ask, options.AskWait = who.asker, who.Wait
	}
	if after := f.reach.after; after != nil {
		after.told = refused.networkShut
		options.Ask, options.AskWait = after, shutWithin
	}
	f.traces.Follow(r, &options)
	f.recorded(&options)
	view, err := sandboxfs.New(r, options)
	if err != nil {
		return result, who.close(result, err), err
	}
	f.traces.Changes(view)
	running, stop := who.while(ctx)
	defer stop()
	if err = f.beside.Arrange(options, f.traces.Follow); err == nil {
		result, err = f.launch(running, a, cfg, r, view, refused, who, command)
	}
	problem = view.Close() // after it every refusal has been told, and every request left
	dropped, besideProblem := f.beside.CloseView()
	dropped += view.Stats().RefusalsDropped
	if view.Stats().Unheard {
		a.Out.Warning("programs inside that wait for edits have not heard of everything that was done outside")
		a.Out.Hint("docs/rough-edges.md says what is not heard, and how they can look by themselves")
	}
	if refused.wanted { // or nobody looks closely
		refused.unjudged(dropped + result.Dropped)
	}
	problem = errors.Join(problem, who.told(dropped+view.Stats().AsksDropped, result.Dropped))
	return result, errors.Join(problem, besideProblem, who.close(result, err)), err
}

// launch runs the command inside the view.
func (f *runFlags) launch(ctx context.Context, a *cli.App, cfg pathresolver.Config, r *pathresolver.Resolver, view *sandboxfs.View, refused *refused, who *answers, command []string) (launcher.Result, error) {
	policy, err := inside.ShowPolicy(cfg, r, view.Arrangement(), f.beside.Show()...)
	if err != nil {
		return launcher.Result{}, err
	}
	told := describeLaunch(&f.Flags, command[0], policy)
	told.Secrets, told.Sockets, told.Devices = f.secrets.names(), f.sockets.names(), cli.Convert[cli.PathText](f.devices)
	refused.launched(told)
	c := launcher.Config{
		Resolver: r, View: view,
		Command: command,
		RO:      f.ro, Home: f.home, User: f.user, Env: slices.Concat(f.env, told.env()),
		Written: f.written,
		Private: state.Private(), KeptHomes: launchprofile.HomesDir(),
		Self:  "pinfold",
		Files: map[string][]byte{inside.PolicyFile: policy, inside.RulesFile: f.rules},
		Stdin: cli.File(a.Stdin), Stdout: cli.File(a.Out.Stdout.Writer), Stderr: cli.File(a.Out.Stderr.Writer),
		OnRefusal:      refused.fromKernel(),
		WaitBackground: f.background,
		Nested:         f.nested,
		NoNetwork:      f.NoNetwork(),
		// A broker in this process looks at its peers and starts programs; for learn it
		// looks at what was written.
		Confine: f.learned == nil && (who == nil || who.apart), Keep: slices.Concat(state.Place(), f.live.Place()),
	}
	network, into, err := f.reach.gateway(refused.network)
	if err != nil {
		return launcher.Result{}, err
	}
	into(&c)
	f.reach.after.serves(network)
	change := changer{f: f, cfg: cfg, view: view, refused: refused, asks: f.asks(cfg)}
	c.Control = f.live.Serve(live.Obeys{Change: change.change, Started: func(program string) {
		again := told
		again.Program = pathresolver.EscapePath(program)
		refused.launched(again)
	}})
	if author := f.authorConfig(); len(author) > 0 {
		c.Files[authorFile] = author
		c.Env = append(c.Env, "GIT_CONFIG_GLOBAL="+authorFile)
	}
	go func() {
		if c.Control != nil { // where no state is kept nobody says when it runs
			_ = c.Control.Started() // where it fails the run ends
		}
		f.started()
		viewhost.BecomeServer()
	}()
	f.limits.into(&c)
	f.secrets.into(&c)
	f.sockets.into(&c)
	c.Devices = f.devices
	f.cachesInto(&c)
	if !f.quiet {
		c.OnStopped = func(stop syscall.Signal, interactive bool) { onStopped(a.Out, stop, interactive) }
	}
	who.into(&c)
	f.beside.Into(&c)
	c.Env = append(c.Env, gitbeside.Environment(c.Env, os.LookupEnv, f.beside.Settings(cfg, r))...)
	result, err := launcher.Run(ctx, c)
	if network != nil {
		err = errors.Join(err, network.Close())
	}
	return result, err
}

// viewOptions is how the view is served. Most refusals are the kernel's alone, which
// the view does not see. If somebody wants to know of them the launcher watches; where
// it cannot, the view is asked about everything, which is slower.
func (f *runFlags) viewOptions(refused *refused) sandboxfs.Options {
	o := viewhost.ServedBy(os.Geteuid(), os.Getegid())
	o.AllowOther = f.user != ""
	if o.DefaultPermissions && !o.AllowOther {
		// The command has no capabilities: it gets what root has without them.
		o.DefaultPermissions, o.Unprivileged = false, true
	}
	if refused.wanted || len(refused.files) > 0 {
		o.OnRefusal, o.ReportAll = refused.add, refused.wanted && !refused.watch
	}
	return o
}
