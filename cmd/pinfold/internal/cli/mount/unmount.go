package mount

import (
	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
)

// NewUnmount is the command unmount.
func NewUnmount(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "unmount MNT",
		Short: "Take away what 'pinfold mount' mounted at MNT",
		Long: `unmount takes the view at MNT away, whether or not its server is alive. While
something still uses it, it is detached: new accesses no longer reach it, and it
goes when the last user does.`,
		Args: cli.OneArg("MNT"),
		RunE: func(_ *cobra.Command, args []string) error {
			lazily, err := unmount(args[0])
			if err == nil && lazily {
				a.Out.Warning(busyText(args[0]))
			}
			return err
		},
	}
	cmd.ValidArgsFunction = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	return cmd
}
