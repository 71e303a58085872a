package run

import (
	"context"
	"errors"
	"net"
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
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// found is how the command finds its broker, and its view whom to ask.
type found struct {
	Agent  string        // that the command is
	Socket string        // the command's own, on the host
	Wait   time.Duration // that an open may wait
	Waits  int           // how many opens may wait at a time
}

// reached is the broker that answers for a run, in the process that has found it: one of
// the run's own, or one that it has joined.
type reached interface {
	found() found
	// serve answers on a connection as to the command's agent.
	serve(net.Conn)
	// stopped returns once the agent was fired and what it has hired runs no more, or
	// where that cannot be known.
	stopped()
	// end says how the command has ended, and lets go of everything.
	end(broker.Exit) error
}

// answers are where a run's command gets answers to what its policy wants asked
// for. nil asks nobody.
type answers struct {
	found
	asker   *viewhost.Asker
	denials *viewhost.Denials // tells the broker what the view refuses; nil: of a broker of the run's own nobody asks that

	signals chan os.Signal // for the command, beside those that this process gets

	pause *launcher.Pause // for asking at the command's terminal; nil: not done

	// fired is done once the command's agent was fired.
	fired  context.Context
	forget context.CancelFunc // of fired
	// end says how the command has ended, and lets go of everything.
	end func(broker.Exit) error

	apart bool // in a process of its own, so that this one can confine itself
}

// newAnswers asks on conn, which somebody serves who was reached. stopped and end are
// theirs.
func (o *asked) newAnswers(ctx context.Context, conn net.Conn, at found, stopped func(), end func(broker.Exit) error) (_ *answers, err error) {
	w := &answers{found: at, signals: make(chan os.Signal, 1)}
	w.fired, w.forget = context.WithCancel(context.WithoutCancel(ctx))
	interrupt := func() {
		select {
		case w.signals <- os.Interrupt:
		default: // the command has not had the last one yet
		}
	}
	fired := func() {
		go func() { // leaves first
			stopped()
			w.forget()
		}()
	}
	c, err := brokerhttp.NewConnClient(conn)
	if err != nil {
		return nil, errors.Join(err, end(broker.Exit{Code: cli.ExitRunOwn, Output: err.Error()}))
	}
	w.asker = viewhost.Join(c, at.Agent, at.Waits, interrupt, fired)
	if o.Join != nil {
		w.denials = viewhost.NewDenials(c)
	}
	w.end = func(exit broker.Exit) error {
		defer w.forget()
		w.asker.Close()
		c.Close() // from then on the answer is no
		return end(exit)
	}
	return w, nil
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
	held, err := f.reach.heldBy(f.Held)
	if err != nil {
		return nil, err
	}
	o := &asked{Run: f.live.ID(), Root: r.Root(), Task: cli.CommandText(command), App: f.app, Shown: f.shown(r.Root()), Policy: permission.EncodePolicy(held), Wait: viewhost.FUSEWait(f.Held), Quiet: f.quiet}
	if joins && !inside.Run() {
		o.Join = &brokerhttp.HireBody{Cwd: o.Root, Task: o.Task, WritePaths: slices.Clone(f.WritePaths), Follow: true}
		switch f.reach.net {
		case netNone:
			o.Join.Net = netNone
		case netAllow: // what the command hires has no others
			o.Join.Net, o.Join.AllowHost = netAllow, f.reach.hosts
		}
		err = f.Named.Into(o.Join)
	} else {
		o.Mode, err = approver.Parse(f.approve, r, f.home)
	}
	switch {
	case err != nil:
		return nil, err
	case o.Mode.AtTerminal():
		return o.here(ctx, a)
	}
	return o.apart(ctx, a)
}

// asked is what finding somebody who answers takes.
type asked struct {
	Join   *brokerhttp.HireBody // of the broker to which PINFOLD_SOCKET leads; nil: of one of the run's own
	Run    string               // its id, or ""
	Root   string
	Task   string
	App    string        // the launch profile, or ""
	Policy []byte        // that the command holds, encoded
	Wait   time.Duration // that an open may wait for an answer
	Shown  []string      // what the command is to see of the host
	Mode   approver.Mode
	Quiet  bool
}

// reach finds who answers, from this process.
func (o *asked) reach(ctx context.Context, a *cli.App) (reached, error) {
	if o.Join != nil {
		return o.join(ctx, a)
	}
	return o.embed(ctx, a)
}

// here has this process answer itself.
func (o *asked) here(ctx context.Context, a *cli.App) (*answers, error) {
	e, err := o.embed(ctx, a)
	if err != nil {
		return nil, err
	}
	ours, theirs := net.Pipe()
	e.serve(theirs)
	w, err := o.newAnswers(ctx, ours, e.found(), e.stopped, e.end)
	if err != nil {
		return nil, err
	}
	w.pause = e.pause
	return w, nil
}

// asks reports whether somebody can be asked in this run.
func (f *runFlags) asks(cfg pathresolver.Config) bool {
	return f.Held != nil && f.approve != "deny" && (viewhost.AsksAnything(cfg) && !inside.Run() || f.approve != "")
}

// into has the command find its broker, and its view whom to ask.
func (w *answers) into(c *launcher.Config) {
	if w != nil {
		c.Env = append(c.Env, "PINFOLD_SOCKET="+brokerhost.SocketInside)
		showBroker(c, w.Socket)
		c.Signals, c.Pause = w.signals, w.pause
	}
}

// showBroker shows the socket of a broker.
func showBroker(c *launcher.Config, socket string) {
	if path, err := hostpath.Resolve(socket); err == nil {
		socket = path.Real
	}
	if c.Sockets == nil {
		c.Sockets = map[string]string{}
	}
	c.Sockets[brokerhost.SocketInside] = socket
}

// while is ctx until the command's agent is fired.
func (w *answers) while(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	if w != nil {
		context.AfterFunc(w.fired, stop)
	}
	return ctx, stop
}

// told has the broker know all that was refused: lost is what did not reach the teller,
// unjudged what nobody could judge.
func (w *answers) told(lost, unjudged uint64) error {
	if w == nil || w.denials == nil {
		return nil
	}
	return w.denials.Close(lost, unjudged)
}

// close says how the run ended.
func (w *answers) close(result launcher.Result, err error) error {
	if w == nil {
		return nil
	}
	exit := broker.Exit{Code: result.ExitCode, Output: result.Reason}
	if exit.Output == "" && len(result.Unwritten) > 0 {
		exit.Output = errors.Join(result.Unwritten...).Error()
	}
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
