//go:build !linux

package mount

import "github.com/pinfold-dev/pinfold/sandboxfs"

func unmount(string) (lazily bool, err error) { return false, sandboxfs.ErrUnsupported }

func notMounted(string) error { return nil }

func UnmountOne(string, bool) (lazily bool, err error) { return false, sandboxfs.ErrUnsupported }
