package brokerhost

import (
	"encoding/gob"
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
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// hiredProcess is a process of ours that runs one agent's command in its view.
type hiredProcess struct {
	cmd  *exec.Cmd
	life *os.File // what it reads; it ends with us
	told *os.File // what it says at the end
	asks net.Conn // over which its view asks
	out  child.Tail
	gone chan struct{} // closed once it has been waited for
}

// startView starts such a process. It returns before the command runs.
func startView(v View) (*hiredProcess, error) {
	self, err := child.Self()
	if err != nil {
		return nil, err
	}
	p := &hiredProcess{gone: make(chan struct{})}
	theirLife, life, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	told, theirReport, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirLife.Close(), life.Close())
	}
	asks, theirAsks, err := child.SocketPair("asks")
	if err != nil {
		return nil, errors.Join(err, theirLife.Close(), life.Close(), told.Close(), theirReport.Close())
	}
	p.life, p.told, p.asks = life, told, asks
	p.cmd = exec.Command(self, "hired-view")
	p.cmd.Args[0] = "pinfold"
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirLife, &p.out, &p.out
	p.cmd.ExtraFiles = []*os.File{ReportFD - 3: theirReport, AsksFD - 3: theirAsks}
	p.cmd.SysProcAttr = child.OwnGroup() // a Ctrl-C for the broker is none for its agents
	err = p.cmd.Start()
	_ = theirLife.Close()   // the process has its own
	_ = theirReport.Close() // likewise
	_ = theirAsks.Close()   // likewise
	if err == nil {
		err = gob.NewEncoder(life).Encode(v)
	}
	if err != nil {
		p.kill()
		return nil, errors.Join(fmt.Errorf("start the view: %w", err), p.close())
	}
	return p, nil
}

func (p *hiredProcess) signal(sig os.Signal) {
	_ = p.cmd.Process.Signal(sig) // one that has ended needs none
}

// kill ends a process that nobody waits for yet.
func (p *hiredProcess) kill() {
	if p.cmd.Process != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait() // it was killed
	}
}

func (p *hiredProcess) close() error {
	return errors.Join(p.life.Close(), p.told.Close(), p.asks.Close())
}

// wait returns how the command ended, once nothing of it is left.
func (p *hiredProcess) wait() broker.Exit {
	var end End
	said := gob.NewDecoder(p.told).Decode(&end)
	waited := p.cmd.Wait()
	close(p.gone)
	_ = p.close() // of what nobody is at the other end any more
	if said != nil {
		end = End{Code: cli.ExitRunOwn, Reason: fmt.Sprintf("its view ended without a word (%v)", waited)}
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

// SocketInside is where an agent finds its broker inside its view.
const SocketInside = "/run/pinfold/broker.sock"

// View is what the broker tells the process that runs a hired agent's
// command in its view, on standard input, as gob: a path may hold any byte.
// The stream stays open as long as the broker lives.
type View struct {
	Agent     string // its id
	Policy    pathresolver.Config
	NoNetwork bool
	Wait      time.Duration // that an open may wait for an answer; see sandboxfs.Options
	Command   []string
	Env       []string
	Socket    string // of this agent, on the host
}

// Descriptors of the process that runs a hired agent's command.
const (
	ReportFD = 3 // End, at the end
	AsksFD   = 4 // a private connection to the broker, as the agent; see brokerhttp.NewConnClient
)

// End is what that process says at the end.
type End struct {
	Code   int
	Signal syscall.Signal
	Reason string // of an end that was not the command's own, or why it never ran
}
