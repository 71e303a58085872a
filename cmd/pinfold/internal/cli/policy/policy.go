package policy

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// New is the command policy.
func New(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Show, format, compare, explain and export policies",
		Args:  cli.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyShow(a), newPolicySchema(a), newPolicyFmt(a), newPolicyDiff(a), newPolicyExplain(a), NewExport(a))
	return cmd
}

func newPolicyShow(a *cli.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show [NAME|FILE]",
		Short: "Print a preset, or a policy with all that it extends",
		Long: `show prints every document of a policy, outermost first, in its canonical form:
of a preset or profile by its name, of a policy file, or of an agent definition;
and after them which files that programs run by themselves it opens, and which
stay protected. Without an argument it lists the presets and profiles, and those
files with the program and the name that opens them.`,
		Example: "  pinfold policy show sandboxed\n  pinfold policy show .claude/agents/coder.md",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return policyList(a, asJSON)
			}
			return policyShow(a, args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// asked is what the commands ask of a policy behind the door.
type asked interface {
	BashCommands() (commands []string, listed bool)
	DiffTo(after *permission.Policy) []policies.Change
	Explain(r permission.Registry, req access.Request) (access.Decision, []policies.Step)
	Unlisted() []policies.Unlisted
	Unprotected() []string
	Writable() []string
}

func behind(p *permission.Policy) asked { return policies.Of(p).(asked) }

func policyShow(a *cli.App, name string, asJSON bool) error {
	p, found, err := loadAny(name)
	if err != nil {
		return err
	}
	if asJSON {
		return policyShowJSON(a, p)
	}
	if data, err := permission.BuiltinText(name); err == nil {
		a.Out.Stdout.Printf("%s", data)
		printTrusted(a.Out, p)
		return nil
	}
	for i, src := range p.Sources() {
		if i > 0 {
			a.Out.Stdout.Printf("\n")
		}
		a.Out.Stdout.Printf("# %s\n%s", pathresolver.EscapePath(src.File), permission.Encode(src.Document))
	}
	printTrusted(a.Out, p)
	policyflag.PrintProblems(a.Out, found)
	return nil
}

// loadAny compiles a preset by its name, an agent definition or a policy file.
// A preset that needs a write path may go without one here.
func loadAny(name string) (*permission.Policy, []permission.Problem, error) {
	return load(policyflag.From{}, name)
}

// loadWithin is loadAny for what somebody else may have written.
func loadWithin(name string) (*permission.Policy, error) {
	p, _, err := load(policyflag.From{Within: true}, name)
	return p, err
}

func load(from policyflag.From, name string) (*permission.Policy, []permission.Problem, error) {
	from.Policy = name
	if _, err := permission.BuiltinText(name); err == nil {
		from.Policy, from.Preset = "", name
	} else if strings.HasSuffix(name, ".md") {
		from.Policy, from.Agent = "", name
	}
	from.Open = true
	p, found, err := from.Load(".", nil)
	if err != nil {
		return nil, nil, cli.UsageError(err, "")
	}
	return p, found, nil
}

func newPolicySchema(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of policy documents",
		Args:  cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			a.Out.Stdout.Printf("%s", permission.Schema())
			return nil
		},
	}
}
