package skills

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/fileskills"
)

func newSkillList(a *cli.App) *cobra.Command {
	var f skillFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list [flags]",
		Short:   "List the skills that a policy offers, and what each does to files",
		Example: `  pinfold skill list -w src --json`,
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
	f.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print names, descriptions, schemas and actions as JSON")
	return cmd
}

// noWritesHint is why no skill that writes is offered.
func (f *skillFlags) noWritesHint() string {
	if f.Held != nil {
		if at, lists := f.Held.WriteList(); lists {
			return f.Named.Placed(at).String() + " lists no write path, so no skill that writes is offered"
		}
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
