package main

import (
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/fileskills"
)

func newSkill(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "skill list|schema|call",
		Short: "List, describe and call the file skills, as an agent would",
		Long: `skill shows what agents get by 'pinfold mcp' with the same flags, and calls it:
for scripts, and for trying things.`,
		Example: `  pinfold skill list -w src
  pinfold skill schema edit_file -w src
  pinfold skill call read_file '{"path":"README.md","limit":5}'
  jq -n '{path: "src/a.go", old_string: "x", new_string: "y"}' | pinfold skill call edit_file - -w src`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageError(errors.New("no verb is given: want list, schema or call"), seeHelp(cmd))
		},
	}
	cmd.AddCommand(newSkillList(a), newSkillSchema(a), newSkillCall(a))
	return cmd
}

// offered finds a skill that the policy offers.
func offered(set *fileskills.Set, name string) (fileskills.Skill, error) {
	var names []string
	for _, s := range set.Skills() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return fileskills.Skill{}, usageError(unknownWord("skill, or one that this policy does not offer,", name, names...),
		"skills that write need a --write-path; delete_file and apply_patch need --enable as well")
}

// completeSkill completes the name of a skill by the flags typed so far.
func completeSkill(f *skillFlags) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		set, r, err := f.set(nil, newOutput(io.Discard, io.Discard))
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer func() { _ = r.Close() }() // holds descriptors, nothing to lose
		var names []cobra.Completion
		for _, s := range set.Skills() {
			names = append(names, cobra.CompletionWithDesc(s.Name, firstSentence(s.Description)))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// firstSentence is what fits into a line of a list.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	text, _, _ = strings.Cut(text, ". ")
	return strings.TrimSuffix(text, ".")
}
