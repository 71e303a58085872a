package brokerhost

import (
	"syscall"
	"time"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// SocketInside is where an agent finds its broker inside its view.
const SocketInside = "/run/pinfold/broker.sock"

// View is what the broker tells the process that runs a hired agent's
// command in its view, on standard input, as gob: a path may hold any byte.
// The stream stays open as long as the broker lives.
type View struct {
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
	AsksFD   = 4 // what the view asks; see pipeAsker
)

// End is what that process says at the end.
type End struct {
	Code   int
	Signal syscall.Signal
	Reason string // of an end that was not the command's own, or why it never ran
}
