package main

import "github.com/spf13/cobra"

func newSkillSchema(a *app) *cobra.Command {
	var f skillFlags
	var output bool
	cmd := &cobra.Command{
		Use:   "schema NAME [flags]",
		Short: "Print the JSON Schema of a skill's arguments",
		Long: `schema prints what a skill takes. It is the same under every policy, so that the
flags which describe one change nothing.`,
		Example: `  pinfold skill schema grep`,
		Args:    oneArg("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := described(args[0])
			if err != nil {
				return err
			}
			if output {
				return writeJSON(a.out.stdout, s.OutputSchema)
			}
			return writeJSON(a.out.stdout, s.InputSchema)
		},
	}
	f.addRoot(cmd)
	f.add(cmd)
	cmd.Flags().BoolVar(&output, "output", false, "print the schema of its structured result instead")
	cmd.ValidArgsFunction = completeAny
	return cmd
}
