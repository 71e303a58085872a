package skills

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/internal/didyoumean"
)

func NewSkill(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "skill list|schema|call",
		Short: "List, describe and call the file skills, as an agent would",
		Long: `skill shows what agents get by 'pinfold mcp' with the same flags, and calls it:
for scripts, and for trying things.`,
		Example: `  pinfold skill list -w src
  pinfold skill schema edit_file -w src
  pinfold skill call read_file '{"path":"README.md","limit":5}'
  jq -n '{path: "src/a.go", old_string: "x", new_string: "y"}' | pinfold skill call edit_file - -w src`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.UsageError(errors.New("no verb is given: want list, schema or call"), cli.SeeHelp(cmd))
		},
	}
	cmd.AddCommand(newSkillList(a), newSkillSchema(a), newSkillCall(a))
	return cmd
}

// described finds a skill by its name or an alias, whether or not a policy
// offers it.
func described(name string) (fileskills.Skill, error) {
	own := fileskills.Canonical(name)
	var names []string
	for _, s := range fileskills.All() {
		if s.Name == own {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return fileskills.Skill{}, cli.UsageError(fmt.Errorf("there is no skill %q", name), didyoumean.Hint(name, names))
}

// completeAny completes the name of any skill.
func completeAny(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, s := range fileskills.All() {
		if len(args) == 0 {
			names = append(names, cobra.CompletionWithDesc(s.Name, firstSentence(s.Description)))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeSkill completes the name of a skill by the flags typed so far.
func completeSkill(f *skillFlags) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		set, r, err := f.set(nil, cli.NewOutput(io.Discard, io.Discard))
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
