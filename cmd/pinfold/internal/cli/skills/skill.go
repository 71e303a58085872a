package skills

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/internal/didyoumean"
)

// New is the command skills.
func New(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "skills list|schema|call",
		Aliases: []string{"skill"}, // which it was called
		Short:   "List, describe and call the file skills, as an agent would",
		Long: `skills shows what agents get by 'pinfold mcp' with the same flags, and calls it:
for scripts, and for trying things.`,
		Example: `  pinfold skills list -w src
  pinfold skills schema edit_file -w src
  pinfold skills call read_file '{"path":"README.md","limit":5}'
  jq -n '{path: "src/a.go", old_string: "x", new_string: "y"}' | pinfold skills call edit_file - -w src`,
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

func newSkillList(a *cli.App) *cobra.Command {
	var f skillFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list [flags]",
		Short:   "List the skills that a policy offers, and what each does to files",
		Example: `  pinfold skills list -w src --json`,
		Args:    cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			set, r, err := f.set(a.Stdin, a.Out)
			if err != nil {
				return err
			}
			defer func() { _ = r.Close() }() // holds descriptors, nothing to lose
			if asJSON {
				return cli.WriteJSON(a.Out.Stdout, listed(set.Skills()))
			}
			for _, s := range set.Skills() {
				a.Out.Stdout.Printf("%-15s %-10s %s\n", s.Name, needsOf(&s), firstSentence(s.Description))
			}
			if len(r.WritePaths()) == 0 {
				a.Out.Hint(f.noWritesHint())
			}
			return nil
		},
	}
	f.AddRoot(cmd)
	f.addAll(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print names, descriptions, schemas and actions as JSON")
	return cmd
}

// noWritesHint is why no skill that writes is offered.
func (f *skillFlags) noWritesHint() string {
	if at, is := f.WriteList(); is {
		return f.Named.Placed(at).String() + " lists no write path, so no skill that writes is offered"
	}
	return "without a --write-path no skill that writes is offered"
}

// needsOf is what a skill needs, in the words of people.
func needsOf(s *fileskills.Skill) string {
	reads := func(a access.Action) bool { return a.Kind() == access.KindRead }
	var words []string
	if slices.ContainsFunc(s.Uses, reads) {
		words = append(words, "read")
	}
	if s.Writes() {
		words = append(words, "write")
	}
	return strings.Join(words, "+")
}

// listedSkill is a skill in the output of `skill list --json`.
type listedSkill struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Uses         []access.Action `json:"uses"`
	Destructive  bool            `json:"destructive"`
	Idempotent   bool            `json:"idempotent"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
}

func listed(skills []fileskills.Skill) []listedSkill {
	list := make([]listedSkill, 0, len(skills))
	for _, s := range skills {
		list = append(list, listedSkill{
			Name: s.Name, Description: s.Description, Uses: s.Uses,
			Destructive: s.Destructive, Idempotent: s.Idempotent,
			InputSchema: s.InputSchema, OutputSchema: s.OutputSchema,
		})
	}
	return list
}

func newSkillSchema(a *cli.App) *cobra.Command {
	var f skillFlags
	var output bool
	cmd := &cobra.Command{
		Use:   "schema NAME [flags]",
		Short: "Print the JSON Schema of a skill's arguments",
		Long: `schema prints what a skill takes. It is the same under every policy, so that the
flags which describe one change nothing.`,
		Example: `  pinfold skills schema grep`,
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
	f.addAll(cmd)
	cmd.Flags().BoolVar(&output, "output", false, "print the schema of its structured result instead")
	cmd.ValidArgsFunction = completeAny
	return cmd
}
