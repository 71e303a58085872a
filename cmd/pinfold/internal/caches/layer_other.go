//go:build !linux

package caches

import (
	"errors"
	"time"
)

var errLinux = errors.New("layers over caches need Linux")

// Held is a layer in use.
type Held struct {
	Shown     []Shown
	Temporary bool
}

// Close does nothing.
func (*Held) Close() {}

// Hold refuses.
func Hold(string, string, Plan) (*Held, error) { return nil, errLinux }

// Tidy has nothing to remove.
func Tidy(string, time.Time) {}

// List finds none.
func List(string) ([]Layer, error) { return nil, nil }

// Prune has nothing to remove.
func Prune(string, func(Layer) bool) ([]Layer, error) { return nil, nil }

// Promote refuses.
func Promote(string, string, Plan, []byte, bool) (Result, error) { return Result{}, errLinux }
