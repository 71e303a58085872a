package policy

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

func newPolicyFmt(a *cli.App) *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "fmt FILE...",
		Short: "Write policy documents in their canonical form, keeping comments",
		Long: `fmt rewrites each FILE where its canonical form differs, and prints the names of
those that it changed. A file that is refused stays as it is. With --check
nothing is written, and the exit code is 1 when a file would change.`,
		Example: "  pinfold policy fmt --check policies/*.yaml",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.UsageError(errors.New("no FILE is given"), cli.SeeHelp(cmd))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return policyFmt(a, args, check) },
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; exit with 1 when a file would change")
	return cmd
}

// maxFormatted is more than permission reads of a document.
const maxFormatted = 16 << 20

func policyFmt(a *cli.App, files []string, check bool) error {
	failed := false
	for _, file := range files {
		data, err := hostfile.ReadWithin(".", file, maxFormatted)
		if err != nil {
			return hostfile.Named(file, err)
		}
		out, err := permission.Format(file, data)
		if err != nil {
			return err
		}
		if bytes.Equal(out, data) {
			continue
		}
		failed = failed || check
		if !check {
			if err := hostfile.Replace(file, out); err != nil {
				return fmt.Errorf("'%s' cannot be written: %w", file, err)
			}
		}
		a.Out.Stdout.Printf("%s\n", pathresolver.EscapePath(file))
	}
	if failed {
		return cli.Silent(cli.ExitFailed)
	}
	return nil
}
