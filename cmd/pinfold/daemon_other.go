//go:build !linux

package main

import (
	"os"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

func mountInBackground(*app) error { return sandboxfs.ErrUnsupported }

func detach(int, *os.File) error { return sandboxfs.ErrUnsupported }

func settleMount(int) error { return sandboxfs.ErrUnsupported }

func confineMount(*pathresolver.Resolver) error { return sandboxfs.ErrUnsupported }
