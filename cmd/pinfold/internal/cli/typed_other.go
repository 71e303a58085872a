//go:build !linux

package cli

import (
	"errors"
	"os"
)

// forgetTyped: what is asked for so is of runs, which there are not here.
func forgetTyped(*os.File) error { return errors.New("questions are asked on Linux only") }
