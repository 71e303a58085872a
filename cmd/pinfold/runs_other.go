//go:build !linux

package main

import (
	"errors"
	"os"
	"time"
)

// holdRun refuses, as openStore does.
func holdRun(string) (*os.File, error) { return nil, errors.New("the broker runs on Linux only") }

// pruneRuns has nothing to remove where no run has a broker.
func pruneRuns(string, time.Time) {}
