//go:build !linux

package gateway

import (
	"errors"
	"os"
)

// Process is a gateway that runs; there is none here.
type Process struct{}

// Start fails: runs are Linux's.
func Start(Config) (*Process, error) { return nil, errors.ErrUnsupported }

// Serve fails.
func (p *Process) Serve(*os.File, *os.File, []*os.File) error { return errors.ErrUnsupported }

// Shut fails.
func (p *Process) Shut() error { return errors.ErrUnsupported }

// Close does nothing.
func (p *Process) Close() error { return nil }
