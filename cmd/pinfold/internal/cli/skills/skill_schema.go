package skills

import (
	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
)

func newSkillSchema(a *cli.App) *cobra.Command {
	var f skillFlags
	var output bool
	cmd := &cobra.Command{
		Use:   "schema NAME [flags]",
		Short: "Print the JSON Schema of a skill's arguments",
		Long: `schema prints what a skill takes. It is the same under every policy, so that the
flags which describe one change nothing.`,
		Example: `  pinfold skill schema grep`,
		Args:    cli.OneArg("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := described(args[0])
			if err != nil {
				return err
			}
			if output {
				return cli.WriteJSON(a.Out.Stdout, s.OutputSchema)
			}
			return cli.WriteJSON(a.Out.Stdout, s.InputSchema)
		},
	}
	f.AddRoot(cmd)
	f.add(cmd)
	cmd.Flags().BoolVar(&output, "output", false, "print the schema of its structured result instead")
	cmd.ValidArgsFunction = completeAny
	return cmd
}
