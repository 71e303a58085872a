//go:build !linux

package learn

import (
	"errors"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
)

func apart() *syscall.SysProcAttr { return nil }

func noNamespaces(err error) error { return err }

// NewLayer is there on Linux alone.
func NewLayer(*cli.App) *cobra.Command {
	return &cobra.Command{Use: "learned-layer", Hidden: true, RunE: func(*cobra.Command, []string) error {
		return errors.ErrUnsupported
	}}
}
