//go:build !linux

package run

import (
	"os"
	"path/filepath"
	"syscall"
)

// Nothing runs in a view here: these only let the rest compile.

func errnoName(e syscall.Errno) string { return e.Error() }

func pathOf(f *os.File) (string, error) { return filepath.Abs(f.Name()) }

func stopName(s syscall.Signal) string { return s.String() }
