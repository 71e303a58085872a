package brokerhost

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/child"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// hiredProcess is a process of ours that runs one agent's command in its view. It ends
// with us.
type hiredProcess struct {
	cmd  *exec.Cmd
	line *child.Line
	asks net.Conn // over which its view asks
	out  child.Tail
	runs chan struct{} // closed once the command runs
	gone chan struct{} // closed once it has been waited for
}

// startView starts such a process. It returns before the command runs. What it says last
// is told without the secrets.
func startView(v View, secrets []string) (*hiredProcess, error) {
	cmd, err := child.Command("hired-view")
	if err != nil {
		return nil, err
	}
	asks, theirs, err := child.Pair("asks")
	if err != nil {
		return nil, err
	}
	p := &hiredProcess{cmd: cmd, asks: asks, out: child.Tail{Secrets: secrets}, runs: make(chan struct{}), gone: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.out, &p.out
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = child.OwnGroup() // a Ctrl-C for the broker is none for its agents
	if p.line, err = child.Start(cmd, v); err != nil {
		return nil, errors.Join(fmt.Errorf("start the view: %w", err), asks.Close())
	}
	return p, nil
}

func (p *hiredProcess) signal(sig os.Signal) {
	_ = p.cmd.Process.Signal(sig) // one that has ended needs none
}

// wait returns how the command ended, once nothing of it is left.
func (p *hiredProcess) wait() broker.Exit {
	var end End
	said := p.line.Hear(&end)
	if said == nil && end.Runs {
		close(p.runs)
		end = End{}
		said = p.line.Hear(&end)
	}
	waited := p.cmd.Wait()
	close(p.gone)
	_, _ = p.line.Close(), p.asks.Close() // nobody is at the other end any more
	if said != nil {
		end = endOfView(waited)
	}
	exit := broker.Exit{Code: end.Code, Output: p.out.String()}
	if end.Signal != 0 {
		exit.Signal = end.Signal.String()
	}
	if end.Reason != "" {
		exit.Output += "pinfold: " + end.Reason + "\n"
	}
	return exit
}

// endOfView is how a command ended whose process of ours has not told it. The command ended
// with that: where it was killed, as it is where it does not end in time, so was the command.
func endOfView(waited error) End {
	end := End{Code: cli.ExitRunOwn, Reason: fmt.Sprintf("its view ended without a word (%v)", waited)}
	var exited *exec.ExitError
	if errors.As(waited, &exited) {
		if status, ok := exited.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			end.Code, end.Signal = cli.ExitSignal+int(status.Signal()), status.Signal()
			end.Reason = fmt.Sprintf("its view was ended (%v), and the command with it", status.Signal())
		}
	}
	return end
}

// SocketInside is where an agent finds its broker inside its view.
const SocketInside = "/run/pinfold/broker.sock"

// View is what the broker tells the process that runs a hired agent's command in its
// view. That process inherits a connection to the broker, as the agent (Launch.Serve).
type View struct {
	Agent     string // its id
	Policy    pathresolver.Config
	NoNetwork bool
	OnlyHosts bool          // the network leads to Hosts and nowhere else
	Hosts     []string      // as permission.Reach has them
	Wait      time.Duration // that an open may wait for an answer; see sandboxfs.Options
	Command   []string
	Env       []string // KEY=VALUE
	Socket    string   // of this agent, on the host

	RO        []string
	Home      string   // "" is a private one
	Private   []string // never seen inside
	Stdin     []byte   // nil is nothing
	GitAuthor bool
	Git       []string // a git directory beside the project may lie in one of these; nil: anywhere
	MaxTasks  int      // 0 is the default
	TmpSize   int64    // likewise
}

// MayGit refuses a git directory beside the project that the manager has no right to. ""
// is none.
func (v *View) MayGit(dir string) error {
	if dir == "" || v.Git == nil {
		return nil
	}
	for _, place := range v.Git {
		if _, in := hostpath.Beneath(dir, place); in {
			return nil
		}
	}
	return fmt.Errorf("--git: the git directory '%s' does not lie in the manager's project, and is not its to open", pathresolver.EscapePath(dir))
}

// End is what that process tells: first that the command runs, if it comes to that, and
// at last how it has ended.
type End struct {
	Runs   bool // it has not ended
	Code   int
	Signal syscall.Signal
	Reason string // of an end that was not the command's own, or why it never ran
}
