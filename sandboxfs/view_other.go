//go:build !linux

package sandboxfs

import (
	"errors"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// ErrUnsupported says that this system has no view.
var ErrUnsupported = errors.New("the view needs Linux")

// View is not available on this system: New always fails.
type View struct{}

// New returns ErrUnsupported.
func New(*pathresolver.Resolver, Options) (*View, error) { return nil, ErrUnsupported }

// Mounts returns nothing.
func (v *View) Mounts() []Mount { return nil }

// MountArgs returns nothing.
func (v *View) MountArgs(int, int) (source, fstype string, flags uintptr, data string) { return }

// Serve returns ErrUnsupported.
func (v *View) Serve(int, int) error { return ErrUnsupported }

// Mount returns ErrUnsupported.
func (v *View) Mount(string) error { return ErrUnsupported }

// Unmount returns ErrUnsupported.
func (v *View) Unmount() (lazily bool, err error) { return false, ErrUnsupported }

// Wait returns at once.
func (v *View) Wait() {}

// Close returns nil.
func (v *View) Close() error { return nil }

// Arrangement returns "none".
func (v *View) Arrangement() string { return "none" }

// Stats returns nothing.
func (v *View) Stats() Stats { return Stats{} }

// Resolver is nil: there is no view.
func (v *View) Resolver() *pathresolver.Resolver { return nil }

// Allow fails: there is no view.
func (v *View) Allow(string, func(i int) error, ...string) error { return ErrUnsupported }

// Hide fails: there is no view.
func (v *View) Hide(string, ...string) ([]string, error) { return nil, ErrUnsupported }

// WatchHost fails: there is no view.
func (v *View) WatchHost(uint32, func(HostEvent) error) error { return ErrUnsupported }
