package brokerhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/gitbeside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/viewhost"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

const (
	firePatience = 10 * time.Second // between SIGTERM and SIGKILL
	// TellPatience is how long the store is given to hear of an end.
	TellPatience = 10 * time.Second

	// maxCommand is how many bytes a command may have with its task in it: about
	// what Linux starts.
	maxCommand = 2 << 20
)

// Runner runs the commands of hired agents, each in a view, for as long as the
// broker serves.
type Runner struct {
	b    *broker.Broker
	dir  string // of the broker, which no agent may reach
	out  *cli.Output
	ctx  context.Context
	stop context.CancelFunc
	all  sync.WaitGroup
	// Launches are what commands may have of the host. Nothing changes them once
	// commands are started.
	Launches Launches

	mu sync.Mutex // one that waits for a start gives up, or is told of its failure
}

// NewRunner runs commands of agents of b, whose directory is dir, until Close.
func NewRunner(b *broker.Broker, dir string, out *cli.Output) *Runner {
	r := &Runner{b: b, dir: dir, out: out}
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r
}

// Outside refuses a project that holds the broker's own files.
func (r *Runner) Outside(cwd string) error { return OutsideProject(r.dir, cwd) }

// Validate looks at the directory and the write paths that somebody wants to give an
// agent, as 'pinfold check' does and in its words, and then at its policy.
// Of a run that joins it is the run that shows the directory, and its user who may allow
// it to be a broad one.
func (r *Runner) Validate(body *brokerhttp.HireBody, policy *permission.Policy) error {
	if policy == nil {
		found := pathresolver.Validate(pathresolver.Config{Root: body.Cwd, WritePaths: body.WritePaths, AllowBroadRoot: body.Follow})
		for i := range found {
			found[i].Hint = strings.TrimSuffix(found[i].Hint, ", or allow it with --allow-broad-root")
		}
		err := &pathresolver.ConfigError{Violations: found}
		if err.Error() != "" { // there are errors, and not only warnings
			return err
		}
		return OutsideProject(r.dir, body.Cwd)
	}
	held, err := policy.Resolver(body.Cwd)
	if err != nil || held.NoView {
		return err
	}
	held.Config.AllowBroadRoot = body.Follow
	return tryDir(held.Config)
}

// tryDir says why a policy cannot be held in an agent's directory.
func tryDir(cfg pathresolver.Config) error {
	beside, err := gitbeside.Find(&cfg, "")
	if err != nil {
		return err
	}
	defer beside.Close()
	try, err := OpenDir(cfg)
	if err != nil {
		return err
	}
	return try.Close()
}

// name is how the agents' rows call this runner.
func (r *Runner) name() string { return "pinfold serve, " + r.dir }

// howRun says how a hired command runs: in a view it is this process's user.
func howRun(command []string, plan planned) string {
	more := []string{"program " + filepath.Base(command[0])}
	if plan.Profile != "" {
		more = append(more, "launch profile "+plan.Profile)
	}
	return broker.How(os.Getuid(), more...)
}

// Launch starts the command of an agent that was just hired.
func (r *Runner) Launch(ctx context.Context, l brokerhttp.Launch) error {
	id := l.Agent.ID
	if err := OutsideProject(r.dir, l.Agent.Cwd); err != nil { // again: the agent may be an older one
		return err
	}
	held, err := l.Policy.Resolver(l.Agent.Cwd)
	if err != nil {
		return err
	}
	if held.NoView {
		return fmt.Errorf("policy '%s' is the operator's own rights: there is no view to run a command in", l.Policy.Name())
	}
	// A policy that cannot be held is told to whoever hires.
	if err := tryDir(held.Config); err != nil {
		return err
	}
	network := l.Policy.Network()
	command, err := withTask(l.Command, l.Agent.Task)
	if err != nil {
		return err
	}
	var plan planned
	if l.Agent.Launch != "" {
		if err := json.Unmarshal([]byte(l.Agent.Launch), &plan); err != nil {
			return err
		}
	}
	given, err := r.Launches.grant(plan, id)
	if err != nil {
		return err
	}
	env, secrets, err := given.values(r.out)
	if err != nil {
		return err
	}
	if given.home != "" {
		if err := hostfile.Refuse("--home", given.home); err != nil {
			return err
		}
		if err := os.MkdirAll(given.home, 0o700); err != nil {
			return err
		}
	}
	for _, path := range append(slices.Clone(given.ro), given.home) {
		if err := OutsideProject(r.dir, path); path != "" && err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	var stdin []byte
	if given.stdin {
		stdin = []byte(l.Agent.Task)
	}
	git, err := r.gitOf(ctx, l.Agent)
	if err != nil {
		return err
	}
	// From here on it counts as running: of several who start it one does.
	if err := r.b.Started(ctx, id, r.name(), howRun(command, plan)); err != nil {
		return err
	}
	p, err := startView(View{
		Agent: id, Policy: held.Config, NoNetwork: network.Mode == permission.NetworkNone || given.noNet, OnlyHosts: network.Mode != permission.NetworkHost, Hosts: network.Hosts, Wait: viewhost.FUSEWait(l.Policy), Command: command,
		Env: append(env, "PINFOLD_TASK="+l.Agent.Task), Socket: l.Socket,
		RO: given.ro, Home: given.home, Private: r.Launches.credentialFiles(), Stdin: stdin, GitAuthor: given.gitAuthor, Git: git,
		MaxTasks: given.maxTasks, TmpSize: given.tmpSize,
	}, secrets)
	if err != nil {
		return err
	}
	r.out.Stderr.Printf("pinfold: agent %s: policy '%s' (%s)\n", pathresolver.EscapePath(id), pathresolver.EscapePath(l.Policy.Name()), cli.ShortHash(l.Policy.Hash()))
	ended, over := context.WithCancel(r.ctx)
	r.all.Go(func() { r.follow(ended, id, p) })
	l.Serve(p.asks)
	var late bool // guarded by r.mu: nobody waits here for the start
	failed := make(chan broker.Exit, 1)
	r.all.Go(func() {
		exit := p.wait()
		over()
		select {
		case <-p.runs:
		default:
			r.mu.Lock()
			alone := late
			if !alone {
				failed <- exit // whoever hires is told
			}
			r.mu.Unlock()
			if !alone {
				return
			}
		}
		l.Ended() // first: once its end is told it may be started again, with a new socket
		r.tell(id, exit)
	})
	patience := time.NewTimer(startPatience)
	defer patience.Stop()
	select {
	case <-p.runs:
		return nil
	case exit := <-failed:
		return noStart(exit)
	case <-patience.C:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case exit := <-failed:
		return noStart(exit)
	default:
		late = true
		return nil
	}
}

// gitOf is where a git directory may lie that is opened for an agent beside its project:
// in its manager's project, or where the manager's own lies. nil is anywhere: for the
// operator's agents.
func (r *Runner) gitOf(ctx context.Context, a broker.Agent) ([]string, error) {
	if a.ParentID == "" {
		return nil, nil
	}
	parent, err := r.b.Agent(ctx, broker.OperatorIdentity(), a.ParentID)
	if err != nil {
		return nil, err
	}
	places := []string{parent.Cwd}
	policy, err := r.b.Policy(ctx, parent.ID)
	if err != nil {
		return nil, err
	}
	held, err := policy.Resolver(parent.Cwd)
	if err != nil || !held.Config.Git {
		return places, err
	}
	above, err := r.gitOf(ctx, parent)
	if err != nil {
		return nil, err
	}
	own, err := gitbeside.Find(&held.Config, "")
	if err != nil {
		return places, nil // it has none
	}
	defer own.Close()
	if own != nil && (above == nil || (&View{Git: above}).MayGit(own.Root()) == nil) {
		places = append(places, own.Root())
	}
	return places, nil
}

// startPatience is how long whoever hires is kept until the command runs. To open it may
// mean that the view asks for leave, and perhaps whoever hires; later it is told of a
// failure as of any end.
const startPatience = 5 * time.Second

// noStart is the error of a command that has ended before it ran.
func noStart(exit broker.Exit) error {
	why := strings.TrimPrefix(strings.TrimSpace(exit.Output), "pinfold: ")
	if why == "" {
		why = exit.String()
	}
	return errors.New("the command was not started: " + why)
}

// withTask is a command with the task in place of each {task}. A few words of the one
// and a long other could take all memory, so the sum is computed first.
func withTask(command []string, task string) ([]string, error) {
	const mark = "{task}"
	size := 0
	for _, word := range command {
		if size += len(word) + strings.Count(word, mark)*max(len(task)-len(mark), 0); size > maxCommand {
			return nil, fmt.Errorf("the command with its task in it has more than %d bytes: it may read PINFOLD_TASK", maxCommand)
		}
	}
	filled := make([]string, len(command))
	for i, word := range command {
		filled[i] = strings.ReplaceAll(word, mark, task)
	}
	return filled, nil
}

// tell records how a command ended. Without that record the agent's manager would wait
// for ever, so it is tried again while the store cannot be reached.
func (r *Runner) tell(id string, exit broker.Exit) {
	ctx, cancel := context.WithTimeout(context.Background(), TellPatience)
	defer cancel()
	for {
		err := r.b.Exited(ctx, id, exit)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			r.out.Error(fmt.Sprintf("agent %s has ended, and that could not be recorded: %v", id, err))
			return
		case <-time.After(TellPatience / 20):
		}
	}
}

// follow passes interrupts on, and stops the command once the agent is fired or
// the broker ends.
func (r *Runner) follow(ctx context.Context, id string, p *hiredProcess) {
	var seen int64
	for {
		agent, err := r.b.AwaitAgent(ctx, id, func(g broker.Agent) bool { return g.State.Ended() || g.Interrupts > seen })
		if ctx.Err() != nil && r.ctx.Err() == nil {
			return // the command has ended
		}
		if err == nil && !agent.State.Ended() {
			seen = agent.Interrupts
			p.signal(os.Interrupt)
			continue
		}
		if err == nil && agent.State == broker.Fired {
			_ = r.b.AwaitStop(ctx, id) // leaves first; when that cannot be known, at once
		}
		p.signal(syscall.SIGTERM)
		kill := time.AfterFunc(firePatience, func() { p.signal(os.Kill) })
		<-p.gone
		kill.Stop()
		return
	}
}

// Close ends all commands, and returns once they are gone.
func (r *Runner) Close() {
	r.stop()
	r.all.Wait()
}

// EndLost records the end of commands that an earlier broker of this directory
// ran: they ended with it.
func (r *Runner) EndLost(ctx context.Context) error {
	agents, err := r.b.Running(ctx)
	if err != nil {
		return err
	}
	for _, g := range agents {
		if g.ProcessName() != r.name() {
			continue
		}
		if err := r.b.Exited(ctx, g.ID, broker.Exit{Code: cli.ExitRunOwn, Output: "pinfold: the broker ended, and with it the command"}); err != nil {
			return err
		}
	}
	return nil
}

// OpenDir opens an agent's directory by the path with which the agent was hired, and
// refuses a path that leads over a link now: another agent that may write above it
// could make it lead anywhere.
func OpenDir(cfg pathresolver.Config) (*pathresolver.Resolver, error) {
	cfg, err := hostfile.HidePrivate(cfg)
	if err != nil {
		return nil, err
	}
	r, err := pathresolver.New(cfg)
	if err != nil {
		return nil, err
	}
	if real := r.Root(); real != cfg.Root {
		_ = r.Close() // it is not used
		return nil, fmt.Errorf("the agent's directory '%s' leads over a link to '%s': an agent works where its path says, so hire it with the path that has no link",
			pathresolver.EscapePath(cfg.Root), pathresolver.EscapePath(real))
	}
	return r, nil
}

// OutsideProject refuses a project that holds the broker's own files: a socket
// there could be replaced, and the database written.
func OutsideProject(brokerDir, cwd string) error {
	project, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(brokerDir)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(project, dir); err == nil && filepath.IsLocal(rel) {
		return fmt.Errorf("the broker's directory %q lies in the project %q, where agents could reach it: serve with another --state-dir", dir, project)
	}
	return nil
}

// resumeAgain is how soon a store that failed is asked again.
const resumeAgain = time.Second

// Resumes starts resumable agents again when a message comes for them, until the
// broker ends. A message starts an agent once, so a command that does not read its
// mailbox is not started over and over.
func (r *Runner) Resumes(srv *brokerhttp.Server) {
	r.all.Go(func() {
		given := map[string]int64{} // the newest message for which an agent was started
		for {
			a, newest, err := r.b.AwaitResume(r.ctx, func(a broker.Agent, m broker.Message) bool { return m.Seq > given[a.ID] })
			if r.ctx.Err() != nil {
				return
			}
			if err != nil {
				select {
				case <-r.ctx.Done():
					return
				case <-time.After(resumeAgain):
				}
				continue
			}
			given[a.ID] = newest.Seq
			err = srv.Resume(r.ctx, a, a.Resume)
			var refused *broker.Error
			started := err == nil || errors.As(err, &refused) && refused.Code == broker.CodeExists // here or elsewhere
			if !started && r.ctx.Err() == nil {
				r.out.Error(fmt.Sprintf("agent %s was not started again: %v", a.ID, err))
			}
		}
	})
}
