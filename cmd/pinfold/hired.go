package main

import (
	"syscall"
	"time"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// brokerSocketInside is where an agent finds its broker inside its view.
const brokerSocketInside = "/run/pinfold/broker.sock"

// hiredView is what the broker tells the process that runs a hired agent's
// command in its view, on standard input, as gob: a path may hold any byte.
// The stream stays open as long as the broker lives.
type hiredView struct {
	Policy    pathresolver.Config
	NoNetwork bool
	Wait      time.Duration // that an open may wait for an answer; see sandboxfs.Options
	Command   []string
	Env       []string
	Socket    string // of this agent, on the host
}

// Descriptors of the process that runs a hired agent's command.
const (
	hiredReport = 3 // hiredEnd, at the end
	hiredAsks   = 4 // what the view asks; see pipeAsker
)

// hiredEnd is what that process says at the end.
type hiredEnd struct {
	Code   int
	Signal syscall.Signal
	Reason string // of an end that was not the command's own, or why it never ran
}
