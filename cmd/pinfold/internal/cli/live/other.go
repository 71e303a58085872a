//go:build !linux

package live

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/pinfold-dev/pinfold/launcher"
)

var errLinux = errors.New("there are runs on Linux only")

func checkOwn(string) error { return errLinux }

func (r *Record) goesOn() bool { return false }

// Ended is how a run ended that was stopped.
type Ended struct {
	Code   int
	Left   string
	Killed bool
}

// Stop fails: nothing runs.
func (r *Record) Stop(context.Context, time.Duration) (Ended, error) { return Ended{}, errLinux }

// Exec fails: nothing runs.
func (r *Record) Exec(context.Context, launcher.JoinConfig) (launcher.Result, error) {
	return launcher.Result{}, errLinux
}

// Change fails: nothing runs.
func (r *Record) Change(Change) (Changed, error) { return Changed{}, errLinux }

// Obeys are what a run does for its user.
type Obeys struct {
	Started func(program string)
	Change  func(*launcher.Control, Change) (Changed, error)
}

// Run is this process's run, of which there is none here.
type Run struct{ Log *os.File }

// Begin returns nil, for which every method does nothing.
func Begin(Record) (*Run, error) { return nil, nil }

// ID is "".
func (*Run) ID() string { return "" }

// Place is nothing.
func (*Run) Place() []string { return nil }

// Serve serves nobody.
func (*Run) Serve(Obeys) *launcher.Control { return nil }

// End does nothing.
func (*Run) End(int, string) {}

// Close does nothing.
func (*Run) Close() {}
