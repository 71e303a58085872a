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
