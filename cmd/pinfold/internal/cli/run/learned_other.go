//go:build !linux

package run

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
)

// NewLearnedRun is the run of 'pinfold learn', which is there on Linux alone.
func NewLearnedRun(*cli.App) *cobra.Command {
	return &cobra.Command{Use: "learned-run", Hidden: true, RunE: func(*cobra.Command, []string) error {
		return errors.ErrUnsupported
	}}
}
