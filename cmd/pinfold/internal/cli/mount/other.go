//go:build !linux

package mount

import (
	"os"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

func mountInBackground(*cli.App) error { return sandboxfs.ErrUnsupported }

func detach(int, *os.File) error { return sandboxfs.ErrUnsupported }

func settleMount(int) error { return sandboxfs.ErrUnsupported }

func confineMount(*pathresolver.Resolver) error { return sandboxfs.ErrUnsupported }

func unmount(string) (lazily bool, err error) { return false, sandboxfs.ErrUnsupported }

func notMounted(string) error { return nil }

func UnmountOne(string, bool) (lazily bool, err error) { return false, sandboxfs.ErrUnsupported }
