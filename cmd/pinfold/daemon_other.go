//go:build !linux

package main

import "github.com/pinfold-dev/pinfold/sandboxfs"

func mountInBackground(*app) error { return sandboxfs.ErrUnsupported }

func detach(int) error { return sandboxfs.ErrUnsupported }
