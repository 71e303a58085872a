package main

import "github.com/spf13/cobra"

func newSkillSchema(a *app) *cobra.Command {
	var f skillFlags
	var output bool
	cmd := &cobra.Command{
		Use:     "schema NAME [flags]",
		Short:   "Print the JSON Schema of a skill's arguments",
		Example: `  pinfold skill schema grep`,
		Args:    oneArg("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			set, r, err := f.set(a.stdin, a.out)
			if err != nil {
				return err
			}
			defer func() { _ = r.Close() }() // holds descriptors, nothing to lose
			s, err := offered(set, args[0])
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
	cmd.ValidArgsFunction = completeSkill(&f)
	return cmd
}
