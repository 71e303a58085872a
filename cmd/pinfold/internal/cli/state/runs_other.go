//go:build !linux

package state

import (
	"errors"
	"os"
	"time"
)

// HoldRun refuses, as OpenStore does.
func HoldRun(string) (*os.File, error) { return nil, errors.New("the broker runs on Linux only") }

// PruneRuns has nothing to remove where no run has a broker.
func PruneRuns(string, time.Time) {}

// PruneLogs has nothing to remove where there are no runs.
func PruneLogs(string, time.Time) {}
