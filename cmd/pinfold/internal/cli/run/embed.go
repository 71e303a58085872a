package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/approver"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerhost"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/proposal"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/permission"
)

// embedded is a broker of a run's own, and the run's command as an agent of it. Its
// operator is whoever started the run.
type embedded struct {
	dir       string
	held      *os.File // keeps dir from being removed
	temporary bool     // there is no place where the operator's commands look
	out       *cli.Output

	store broker.Store
	b     *broker.Broker
	srv   *brokerhttp.Server
	run   *brokerhost.Runner
	still broker.Head // of the audit, before the command ran

	propose *proposal.Maker
	answers *approver.Answering

	at    found
	pause *launcher.Pause
	ctx   context.Context // of what goes on beside the command
	stop  context.CancelFunc
}

var _ reached = (*embedded)(nil)

// ownWaits is how many opens wait at a time that ask over a connection of their view's
// alone: as many as the broker lets an agent wait with whose manager is an agent.
const ownWaits = 200

// embed starts a broker of the run's own, and registers the command with it.
func (o *asked) embed(ctx context.Context, a *cli.App) (_ *embedded, err error) {
	e := &embedded{out: a.Out, at: found{Agent: runAgent, Wait: o.Wait, Waits: ownWaits}, pause: launcher.NewPause()}
	e.ctx, e.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close(), e.remove())
		}
	}()
	if err := e.makeDir(o.Run, o.Shown); err != nil {
		return nil, err
	}
	if err := e.begin(ctx); err != nil {
		return nil, err
	}
	if e.at.Socket, err = e.register(ctx, o); err != nil {
		return nil, err
	}
	by := approver.Run{Broker: e.b, Dir: e.dir, Temporary: e.temporary, Pause: e.pause, Propose: e.propose.Of}
	if e.answers, err = o.Mode.Start(e.ctx, by, a, o.Quiet); err != nil {
		return nil, err
	}
	return e, nil
}

func (e *embedded) found() found { return e.at }

func (e *embedded) serve(conn net.Conn) { e.srv.ServeConn(conn, e.at.Agent) }

func (e *embedded) stopped() { _ = e.b.AwaitStop(e.ctx, e.at.Agent) }

func (e *embedded) begin(ctx context.Context) (err error) {
	if e.store, err = brokerhost.OpenStore(ctx, e.dir, ""); err != nil {
		return err
	}
	if e.b, err = broker.New(ctx, broker.Options{Store: e.store}); err != nil {
		return err
	}
	e.run = brokerhost.NewRunner(e.b, e.dir, e.out)
	e.propose = proposal.New(e.b, e.run.Outside)
	e.srv, err = brokerhttp.New(ctx, e.b, brokerhttp.Options{
		Dir: e.dir, Validate: e.run.Validate, Plan: e.run.Plan, Launch: e.run.Launch, Skill: e.run.CallSkill, Propose: e.propose.Of,
		Logger: slog.New(slog.DiscardHandler), // the terminal is the command's
	})
	return err
}

// register makes the command an agent, and returns its socket.
func (e *embedded) register(ctx context.Context, o *asked) (string, error) {
	policy, err := permission.DecodePolicy(o.Policy)
	if err != nil {
		return "", err
	}
	if _, _, err = e.b.Hire(ctx, broker.OperatorIdentity(), broker.HireSpec{ID: e.at.Agent, Policy: policy, Cwd: o.Root, Task: o.Task}); err != nil {
		return "", err
	}
	process, err := e.srv.OwnProcess()
	if err != nil {
		return "", err
	}
	how := broker.How(os.Getuid())
	if o.App != "" {
		how = broker.How(os.Getuid(), "app "+o.App)
	}
	if err := e.b.Started(ctx, e.at.Agent, process, how); err != nil {
		return "", err
	}
	if e.still, err = e.b.Head(ctx, broker.OperatorIdentity()); err != nil {
		return "", err
	}
	return e.srv.Admit(ctx, e.at.Agent)
}

// end records how the command ended, ends what it has hired, and removes the
// broker's directory where nothing was ever asked.
func (e *embedded) end(exit broker.Exit) error {
	ctx, cancel := context.WithTimeout(context.Background(), brokerhost.TellPatience)
	defer cancel()
	now, err := e.b.Head(ctx, broker.OperatorIdentity())
	unused := err == nil && now == e.still
	err = errors.Join(err, e.b.Exited(ctx, e.at.Agent, exit))
	e.stop()
	if err = errors.Join(err, e.close()); err == nil && (unused || e.temporary) {
		err = e.remove()
	}
	return err
}

func (e *embedded) remove() error {
	if e.dir == "" {
		return nil
	}
	return os.RemoveAll(e.dir)
}

// close lets go of what is there, in the order in which it depends on each
// other.
func (e *embedded) close() (err error) {
	e.stop()
	err = e.answers.Close()
	if e.run != nil {
		e.run.Close()
	}
	if e.srv != nil {
		err = errors.Join(err, e.srv.Close())
	}
	if e.b != nil {
		e.b.Close()
	}
	if e.store != nil {
		err = errors.Join(err, e.store.Close())
	}
	if e.held != nil {
		err = errors.Join(err, e.held.Close())
	}
	return err
}

// makeDir makes the directory of this run's broker, where no agent may reach it.
// Where the user has no state directory it is a temporary one. shown is what the
// command is to see of the host.
func (e *embedded) makeDir(id string, shown []string) error {
	base, err := state.RunsDir()
	if err == nil {
		err = os.MkdirAll(base, 0o700)
	}
	if err == nil {
		if id != "" {
			e.dir = filepath.Join(base, id)
			err = os.Mkdir(e.dir, 0o700)
		} else {
			e.dir, err = os.MkdirTemp(base, time.Now().UTC().Format(state.RunTime)+"-")
		}
	} else {
		e.temporary = true
		e.dir, err = os.MkdirTemp("", "pinfold-run-")
	}
	if err == nil {
		e.held, err = state.HoldRun(e.dir)
	}
	if err == nil {
		err = outsideAll(e.dir, shown)
	}
	if err != nil {
		return &cli.ExitError{Code: cli.ExitRunOwn, Err: fmt.Errorf("the policy wants things asked for, and there is no place for the run's broker: %w", err),
			Hint: "set XDG_STATE_HOME to a directory of yours outside of the project, and of what --home and --ro show"}
	}
	if !e.temporary {
		state.PruneRuns(base, time.Now())
	}
	return nil
}

// shown are the directories of the host that the run's command is to see.
func (f *runFlags) shown(root string) []string {
	all := append([]string{root}, f.ro...)
	if f.home != "" {
		all = append(all, f.home)
	}
	return all
}

// outsideAll refuses a broker's directory that lies in what a command is shown:
// it could approve its own requests in the database. What does not exist
// the launcher refuses.
func outsideAll(dir string, shown []string) error {
	for _, at := range shown {
		at, err := filepath.Abs(at) // --home and --ro may be relative
		if err == nil {
			err = brokerhost.OutsideProject(dir, at)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
