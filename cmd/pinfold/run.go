package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/leftover"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

type runFlags struct {
	policyFlags
	limits     limitFlags
	ro         []string
	home       string
	user       string
	env        []string
	report     string
	failOnDeny bool
	failOnLeft leftFlag
	background bool
	nested     bool
	noSandbox  bool
	approve    string
	quiet      bool

	beside  *gitBeside // what --git opens outside of the project, once that is known
	traces  traces     // of what is changed
	written []string   // places that runs, and this one, could write
}

func newRun(a *app) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [flags] -- CMD [ARG]...",
		Short: "Run a command that reads only beneath DIR and writes only beneath the write paths",
		Long: `run shows CMD the directory DIR at its own path, system directories read-only,
and a private /tmp and home; nothing else of the host's files exists for it.
It may write beneath the write paths and nowhere else in DIR. The network is the
host's, unless a policy that is named takes it away.

The exit code is CMD's own, 128 plus the signal that ended it, 127 when it was
not found, 126 when it cannot be executed, and 125 for every error of pinfold's
own: CMD did not run then.`,
		Example: `  pinfold run --git --write-path src -- bash
  pinfold run -w . --hide '**/.env' -- npm test
  pinfold run -w out --ro ~/sdk/go --report refused.jsonl -- make`,
		Args:        commandGiven,
		Annotations: map[string]string{ownErrors: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.home == "" && cmd.Flags().Changed("home") {
				return usageError(errors.New("--home is empty"), "name a directory, or leave it out for a private home that is empty")
			}
			return runCommand(cmd.Context(), a, &f, args)
		},
	}
	f.addRoot(cmd)
	f.add(cmd)
	flags := cmd.Flags()
	flags.SetInterspersed(false) // what follows CMD belongs to CMD
	flags.StringArrayVar(&f.ro, "ro", nil, "show `PATH` of the host inside, read-only, at its own path (repeatable)")
	flags.StringVar(&f.home, "home", "", "show `DIR` as the home directory inside, writable, instead of a private empty one")
	flags.StringVar(&f.user, "user", "", "as root: run CMD as the user `NAME`")
	flags.StringArrayVar(&f.env, "env", nil, "pass `KEY[=VAL]` on to CMD, besides the few variables that always are (repeatable)")
	flags.StringVar(&f.report, "report", "", "append a JSON line to `FILE` for the launch, for each refusal, and for what was left")
	flags.BoolVar(&f.failOnDeny, "fail-on-deny", false, "exit with 123 when anything was refused, or came too fast to be judged")
	flags.Var(&f.failOnLeft, "fail-on-left", "exit with 122 when CMD left something that can act later, or something of these `KIND`s (see 'pinfold left')")
	flags.Lookup("fail-on-left").NoOptDefVal = "all"
	flags.BoolVar(&f.background, "wait-background", false, "wait for CMD's background processes instead of ending them")
	flags.BoolVar(&f.nested, "nested", false, "let CMD start sandboxes of its own, such as 'pinfold run'; without Landlock, with namespaces, and not as root")
	flags.BoolVar(&f.noSandbox, "no-sandbox", false, "for finding out whether pinfold is in the way: run CMD with all of your rights; announced and recorded")
	f.limits.add(cmd)
	f.approveFlag(cmd)
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no hints and no summary on a terminal")
	return cmd
}

func commandGiven(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usageError(errors.New("no command is given"), "pinfold run [flags] -- CMD [ARG]...")
	}
	return nil
}

func runCommand(ctx context.Context, a *app, f *runFlags, command []string) error {
	if err := f.refuseDashes(); err != nil {
		return err
	}
	if err := f.limits.check(); err != nil {
		return err
	}
	if f.noSandbox {
		return f.unconfined(a, command)
	}
	cfg, err := f.config(nil)
	if err != nil {
		return err
	}
	if f.beside, err = findGitBeside(&cfg, f.user); err != nil {
		return err
	}
	defer f.beside.close()
	cfg, r, err := open(cfg, a.out)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // holds descriptors, nothing to lose
	f.written = remember(a.out, f.home, r)
	refused, err := f.newRefused(a.out, r)
	if err != nil {
		return err
	}
	watched := a.out.stderr.terminal && !f.quiet
	if watched {
		f.tellPolicy(a.out)
		f.beside.tell(a.out)
		printProblems(a.out, warnings(f.found))
		f.hints(a.out, cfg, r)
	}
	becomeServer()
	result, problem, err := f.inView(ctx, a, cfg, r, refused, command)
	left := f.traces.left()
	refused.left(left)
	problem = errors.Join(problem, refused.close())
	if err != nil {
		return errors.Join(nestedError(err), problem)
	}
	saved := keepLeft(a.out, r, command, left)
	if problem != nil {
		a.out.error(problem.Error()) // the command has run: its exit code stands
	}
	for _, lost := range result.Lost {
		a.out.warning("not guaranteed here: " + lost)
	}
	if result.Reason != "" {
		a.out.error(result.Reason)
		if result.ExitCode == exitNotFound {
			a.out.hint(hintOutside(command[0]))
		}
	}
	if watched {
		refused.summary(a.out)
		tellLeft(a.out, r.Root(), left, saved)
	}
	refused.warn(a.out)
	return silent(f.exitCode(result.ExitCode, refused, left))
}

// exitCode is the command's own, unless something was refused that must not be
// or might have been: a command can drown its refusals in other attempts. After
// that comes what must not be left.
func (f *runFlags) exitCode(own int, refused *refused, left leftover.Left) int {
	switch {
	case f.failOnDeny && (refused.total > 0 || refused.untold > 0):
		return exitDenied
	case f.failOnLeft.fails(left):
		return exitLeft
	}
	return own
}

// refuseDashes looks at the flags that only run has.
func (f *runFlags) refuseDashes() error {
	return cmp.Or(
		refuseDashes("--ro", f.ro...), refuseDashes("--home", f.home), refuseDashes("--user", f.user), refuseDashes("--env", f.env...),
		refuseDashes("--report", f.report), refuseDashes("--approve", f.approve),
	)
}

// inView makes the view, with whoever answers for it, and runs the command
// inside. err says that the command did not run, problem what went wrong besides.
func (f *runFlags) inView(ctx context.Context, a *app, cfg pathresolver.Config, r *pathresolver.Resolver, refused *refused, command []string) (result launcher.Result, problem, err error) {
	who, err := f.answers(ctx, a, cfg, r, command)
	if err != nil {
		return result, nil, err
	}
	options := f.viewOptions(refused)
	if who != nil {
		options.Ask, options.AskWait = who.asker, who.wait
	}
	f.traces.follow(r, &options)
	view, err := sandboxfs.New(r, options)
	if err != nil {
		return result, who.close(result, err), err
	}
	running, stop := who.while(ctx)
	defer stop()
	if err = f.beside.arrange(options, f.traces.follow); err == nil {
		result, err = f.launch(running, a, cfg, r, view, refused, who, command)
	}
	problem = view.Close() // after it every refusal has been told, and every request left
	dropped, besideProblem := f.beside.closeView()
	refused.unjudged(view.Stats().RefusalsDropped + dropped + result.Untold)
	return result, errors.Join(problem, besideProblem, who.close(result, err)), err
}

// launch runs the command inside the view.
func (f *runFlags) launch(ctx context.Context, a *app, cfg pathresolver.Config, r *pathresolver.Resolver, view *sandboxfs.View, refused *refused, who *answers, command []string) (launcher.Result, error) {
	policy, err := showPolicy(cfg, r, view.Arrangement(), f.beside.shown()...)
	if err != nil {
		return launcher.Result{}, err
	}
	told := describeLaunch(&f.policyFlags, command[0], policy)
	refused.launched(told)
	c := launcher.Config{
		Resolver: r, View: view,
		Command: command,
		RO:      f.ro, Home: f.home, User: f.user, Env: slices.Concat(f.env, told.env()),
		Written: f.written,
		Private: privatePlaces(),
		Self:    "pinfold",
		Files:   map[string][]byte{policyFile: policy},
		Stdin:   file(a.stdin), Stdout: file(a.out.stdout.Writer), Stderr: file(a.out.stderr.Writer),
		OnRefusal:      refused.fromKernel(),
		WaitBackground: f.background,
		Nested:         f.nested,
		NoNetwork:      f.noNetwork(),
		// A broker in this process looks at its peers and starts programs.
		Confine: who == nil, Keep: statePlace(),
	}
	f.limits.into(&c)
	if !f.quiet {
		c.OnStopped = func(stop syscall.Signal, interactive bool) { onStopped(a.out, stop, interactive) }
	}
	who.into(&c)
	f.beside.into(&c)
	c.Env = append(c.Env, gitSettings(c.Env, os.LookupEnv, f.beside.settings(cfg, r))...)
	return launcher.Run(ctx, c)
}

// viewOptions is how the view is served. The kernel alone refuses most of what
// is refused: where somebody listens the launcher hears of that, and where it
// cannot, the view is asked about everything, which is slower.
func (f *runFlags) viewOptions(refused *refused) sandboxfs.Options {
	o := servedBy(os.Geteuid(), os.Getegid())
	o.AllowOther = f.user != ""
	if o.DefaultPermissions && !o.AllowOther {
		// The command has no capabilities: it gets what root has without them.
		o.DefaultPermissions, o.Unprivileged = false, true
	}
	if refused.wanted {
		o.OnRefusal, o.ReportAll = refused.add, !refused.watch
	}
	return o
}
