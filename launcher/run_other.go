//go:build !linux

package launcher

import (
	"context"
	"errors"
	"os"
	"time"
)

var errLinux = errors.New("running a command inside needs Linux")

// Run needs Linux: it returns an error and runs nothing.
func Run(context.Context, Config) (Result, error) {
	return Result{}, &SetupError{Step: "set up", Err: errLinux}
}

// Control acts on a run where there are runs.
type Control struct{}

// NewControl makes one that does nothing.
func NewControl() *Control { return &Control{} }

// Stop does nothing: nothing runs.
func (*Control) Stop(time.Duration) {}

// Exec needs Linux.
func (*Control) Exec(*os.File) error { return errLinux }

// Join needs Linux: it returns an error and runs nothing.
func Join(context.Context, *os.File, JoinConfig) (Result, error) {
	return Result{}, &SetupError{Step: "start the command", Err: errLinux}
}

// CanWatch reports false: there is no such filter.
func CanWatch() bool { return false }

// SocketsRefused reports true: nothing is shown.
func SocketsRefused() bool { return true }

// Probe says that nothing works here.
func Probe() []Finding {
	return []Finding{{Name: "linux", Required: true, Detail: "this is another system", Means: "pinfold run and pinfold mount do not work"}}
}

// Started fails: nothing runs.
func (*Control) Started() error { return errLinux }

// Mount fails.
func (*Control) Mount(int) error { return errLinux }

// Show fails.
func (*Control) Show(map[string][]byte) error { return errLinux }
