package run

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/approver"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerhost"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/viewhost"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// answers are where a run's command gets answers to what its policy wants asked
// for: a broker of the run's own, or one that it has joined. nil asks nobody.
type answers struct {
	asker  sandboxfs.Asker
	wait   time.Duration // that an open may wait
	socket string        // the command's own, on the host

	signals <-chan os.Signal // for the command, beside those that this process gets

	pause *launcher.Pause // for asking at the command's terminal; nil: not done

	// fired is done once the command's agent was fired.
	fired context.Context
	// end says how the command has ended, and lets go of everything.
	end func(broker.Exit) error

	apart bool // in a process of its own, so that this one can confine itself
}

// answers finds who answers for the run. Where nothing can be asked for and no flag
// wants somebody asked, there is no broker and no cost.
func (f *runFlags) answers(ctx context.Context, a *cli.App, cfg pathresolver.Config, r *pathresolver.Resolver, command []string) (*answers, error) {
	asks := viewhost.AsksAnything(cfg)
	joins := os.Getenv("PINFOLD_SOCKET") != ""
	switch {
	case f.Held == nil && f.approve != "":
		return nil, cli.UsageError(errors.New("--approve: without a policy nothing has to be asked for"), "name one by --policy, --preset or --agent")
	case !asks && f.approve == "" || f.Held == nil:
		return nil, nil
	case f.approve != "" && joins && !inside.Run():
		return nil, cli.UsageError(errors.New("--approve is about a broker of the run's own: here the manager answers that PINFOLD_SOCKET leads to"), "unset the variable, or leave out --approve")
	case f.approve == "" && inside.Run():
		a.Out.Warning("what the policy wants asked for is refused: nobody can be asked from inside a view; --approve says who answers")
		return nil, nil
	}
	o := &asked{Root: r.Root(), Task: cli.CommandText(command), Shown: f.shown(r.Root()), Policy: permission.EncodePolicy(f.Held), Wait: viewhost.FUSEWait(f.Held), Quiet: f.quiet}
	var err error
	if joins && !inside.Run() {
		o.Join = &brokerhttp.HireBody{Cwd: o.Root, Task: o.Task, WritePaths: slices.Clone(f.WritePaths), Follow: true}
		err = f.Named.Into(o.Join)
	} else {
		o.Mode, err = approver.Parse(f.approve, r, f.home)
	}
	switch {
	case err != nil:
		return nil, err
	case o.Mode.AtTerminal():
		return o.embed(ctx, a)
	}
	return o.apart(ctx, a)
}

// asked is what finding somebody who answers takes.
type asked struct {
	Join   *brokerhttp.HireBody // of the broker to which PINFOLD_SOCKET leads; nil: of one of the run's own
	Root   string
	Task   string
	Policy []byte        // that the command holds, encoded
	Wait   time.Duration // that an open may wait for an answer
	Shown  []string      // what the command is to see of the host
	Mode   approver.Mode
	Quiet  bool
}

// here finds who answers, in this process.
func (o *asked) here(ctx context.Context, a *cli.App) (*answers, error) {
	if o.Join != nil {
		return o.join(ctx, a)
	}
	return o.embed(ctx, a)
}

// asks reports whether somebody can be asked in this run.
func (f *runFlags) asks(cfg pathresolver.Config) bool {
	return f.Held != nil && f.approve != "deny" && (viewhost.AsksAnything(cfg) && !inside.Run() || f.approve != "")
}

// into has the command find its broker, and its view whom to ask.
func (w *answers) into(c *launcher.Config) {
	if w != nil {
		c.Env = append(c.Env, "PINFOLD_SOCKET="+brokerhost.SocketInside)
		c.Sockets = map[string]string{brokerhost.SocketInside: w.socket}
		c.Signals, c.Pause = w.signals, w.pause
	}
}

// while is ctx until the command's agent is fired.
func (w *answers) while(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	if w != nil {
		context.AfterFunc(w.fired, stop)
	}
	return ctx, stop
}

// close says how the run ended.
func (w *answers) close(result launcher.Result, err error) error {
	if w == nil {
		return nil
	}
	exit := broker.Exit{Code: result.ExitCode, Output: result.Reason}
	if result.Signal != 0 {
		exit.Signal = result.Signal.String()
	}
	if err != nil {
		exit.Code, exit.Output = cli.ExitRunOwn, err.Error()
	}
	return w.end(exit)
}

// runAgent is how the agent that a run's command is, is called.
const runAgent = "run"

// approveFlag gives run its flag --approve.
func (f *runFlags) approveFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.approve, "approve", "", "who answers what the policy wants asked for: `tty|web|deny|exec:CMD`; without it 'pinfold approve' in another terminal")
	_ = cmd.RegisterFlagCompletionFunc("approve", cobra.FixedCompletions([]string{"tty", "web", "deny", "exec:"}, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
}
