package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

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
		return usageError(err, seeHelp(cmd))
	})
	root.SetHelpCommand(newHelp())
	root.SetVersionTemplate("{{.Version}}\n")
	root.Version = versionText()
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		newRun(a), newMount(a), newUnmount(a),
		newMCP(a), newHook(a), newSkill(a),
		newCheck(a), newWhy(a), newPolicy(a), newFlags(a), newDoctor(a), newLeft(a),
		newServe(a), newHire(a), newFire(a), newInterrupt(a), newAgents(a), newStatus(a), newAwait(a),
		newRequest(a), newRequests(a), newApprove(a), newDeny(a), newGrants(a), newRevoke(a),
		newTell(a), newMailbox(a), newAudit(a), newHiredView(a), newUnmounter(a),
		newVersion(a), newCompletion(a), newMan(),
	)
	return root
}

// newHelp is cobra's, but for a topic that does not exist: that is an error.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usageError(fmt.Errorf("no help about %q", strings.Join(args, " ")), seeHelp(cmd.Root()))
			}
			return about.Help()
		},
	}
}
