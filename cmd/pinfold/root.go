package main

import (
	"io"

	"github.com/spf13/cobra"
)

// app is what every command needs.
type app struct {
	args  []string // after the program's name
	stdin io.Reader
	out   *output
}

// ownErrors marks the command whose every error of its own is exitRunOwn.
const ownErrors = "own-errors-are-125"

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "pinfold",
		Short: "Let a program read only beneath one directory and write only where you say",
		Long: `pinfold runs a program, such as an AI agent, so that it reads only beneath one
directory and writes only beneath the paths that were named. Without any write
path everything is read-only.`,
		Example: `  pinfold run --git --write-path src -- bash
  pinfold check --write-path src --format github
  pinfold why --write-path src go.mod`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError(err, "see '"+cmd.CommandPath()+" --help'")
	})
	root.SetVersionTemplate("{{.Version}}\n")
	root.Version = versionText()
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		newRun(a), newMount(a), newUnmount(a),
		newCheck(a), newWhy(a), newDoctor(a),
		newVersion(a), newCompletion(a), newMan(),
	)
	return root
}

// noArgs and the like are cobra's checks with our exit code.
var noArgs = usage(cobra.NoArgs)

func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError(err, "see '"+cmd.CommandPath()+" --help'")
		}
		return nil
	}
}
