package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/internal/didyoumean"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

func newPolicy(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Show, format, compare and explain policies",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyShow(a), newPolicySchema(a), newPolicyFmt(a), newPolicyDiff(a), newPolicyExplain(a))
	return cmd
}

func newPolicyShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show [NAME|FILE]",
		Short: "Print a preset, or a policy with all that it extends",
		Long: `show prints every document of a policy, outermost first, in its canonical form:
of a preset or profile by its name, of a policy file, or of an agent definition.
Without an argument it lists the presets and profiles.`,
		Example: "  pinfold policy show sandboxed\n  pinfold policy show .claude/agents/coder.md",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, name := range permission.Builtins() {
					a.out.stdout.printf("%s\n", name)
				}
				return nil
			}
			return policyShow(a, args[0])
		},
	}
}

func policyShow(a *app, name string) error {
	if data, err := permission.BuiltinText(name); err == nil {
		a.out.stdout.printf("%s", data)
		return nil
	}
	p, found, err := loadAny(name)
	if err != nil {
		return err
	}
	for i, src := range p.Sources() {
		if i > 0 {
			a.out.stdout.printf("\n")
		}
		a.out.stdout.printf("# %s\n%s", pathresolver.EscapePath(src.File), permission.Encode(src.Document))
	}
	a.out.problems(found)
	return nil
}

// problems prints what is worth a word, on standard error.
func (o *output) problems(found []permission.Problem) {
	for _, f := range found {
		o.warning(f.Position.String() + ": " + f.Message)
		if f.Hint != "" {
			o.hint(f.Hint)
		}
	}
}

// warnings leaves out the notes.
func warnings(found []permission.Problem) []permission.Problem {
	return slices.DeleteFunc(slices.Clone(found), func(p permission.Problem) bool { return p.Severity == permission.Note })
}

// loadAny compiles a preset by its name, an agent definition or a policy file.
// A preset that needs a write path gets none: that is no mistake here.
func loadAny(name string) (*permission.Policy, []permission.Problem, error) {
	from := policyFrom{policy: name}
	if _, err := permission.BuiltinText(name); err == nil {
		from = policyFrom{preset: name}
	} else if strings.HasSuffix(name, ".md") {
		from = policyFrom{agent: name}
	}
	from.open = true
	p, found, err := from.load(".", nil)
	if err != nil {
		return nil, nil, usageError(err, "")
	}
	return p, found, nil
}

func newPolicySchema(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of policy documents",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			a.out.stdout.printf("%s", permission.Schema())
			return nil
		},
	}
}

func newPolicyFmt(a *app) *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "fmt FILE...",
		Short: "Write policy documents in their canonical form, keeping comments",
		Long: `fmt rewrites each FILE where its canonical form differs, and prints the names of
those that it changed. A file that is refused stays as it is. With --check
nothing is written, and the exit code is 1 when a file would change.`,
		Example: "  pinfold policy fmt --check policies/*.yaml",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError(errors.New("no FILE is given"), seeHelp(cmd))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return policyFmt(a, args, check) },
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; exit with 1 when a file would change")
	return cmd
}

func policyFmt(a *app, files []string, check bool) error {
	failed := false
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return fileError(file, err)
		}
		out, err := permission.Format(file, data)
		if err != nil {
			return err
		}
		if bytes.Equal(out, data) {
			continue
		}
		failed = failed || check
		if !check {
			if err := replaceFile(file, out); err != nil {
				return fmt.Errorf("'%s' cannot be written: %w", file, err)
			}
		}
		a.out.stdout.printf("%s\n", pathresolver.EscapePath(file))
	}
	if failed {
		return silent(exitFailed)
	}
	return nil
}

// replaceFile writes beside the file and moves into place, so that it is whole
// at every moment. One that is not there is made.
func replaceFile(file string, data []byte) error {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".pinfold-fmt-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

func newPolicyExplain(a *app) *cobra.Command {
	var from policyFrom
	var principal, parent, tool string
	cmd := &cobra.Command{
		Use:   "explain [flags] ACTION RESOURCE",
		Short: "Say what a policy decides about a request, and what each of its layers says",
		Long: `explain asks a policy, does nothing, and exits with 0 when the request is
allowed and 1 when it is not. RESOURCE is a path beneath the project, an agent's
id or session key, or a tool. What links a path leads through it does not look
at: 'pinfold why' does.`,
		Example: "  pinfold policy explain --policy p.yaml fs.write src/main.go\n  pinfold policy explain --preset sandboxed --as me --parent boss --tool nexus_send msg.send boss",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageError(errors.New("explain takes an ACTION and a RESOURCE"), seeHelp(cmd))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := knownAction(args[0]); err != nil {
				return err
			}
			if given, err := from.given(); err != nil {
				return err
			} else if !given {
				return usageError(errors.New("no policy is given"), "name one by --policy, --preset or --agent")
			}
			p, _, err := from.load(".", nil)
			if err != nil {
				return usageError(err, "")
			}
			r := permission.Request{Principal: principal, Action: permission.Action(args[0]), Resource: args[1], Tool: tool}
			x := permission.Enforcer{Policy: p, Registry: oneParent{principal, parent}}.Explain(r)
			explainText(a.out, &x)
			if !x.Decision.Allowed() {
				return silent(exitFailed)
			}
			return nil
		},
	}
	from.add(cmd)
	cmd.Flags().StringVar(&principal, "as", "agent", "the `ID` of the agent that asks")
	cmd.Flags().StringVar(&parent, "parent", "", "the `ID` of its parent")
	cmd.Flags().StringVar(&tool, "tool", "", "the `NAME` of the tool through which it asks")
	return cmd
}

// knownAction refuses a word that is no action.
func knownAction(word string) error {
	var words []string
	for _, a := range permission.Actions() {
		words = append(words, string(a))
	}
	if slices.Contains(words, word) {
		return nil
	}
	hint := ""
	if like := didyoumean.Word(word, words); like != "" {
		hint = "did you mean '" + like + "'?"
	}
	return usageError(unknownWord("action", word, words...), hint)
}

// oneParent knows one agent's parent.
type oneParent struct{ id, parent string }

func (o oneParent) Parent(id string) string {
	if id == o.id {
		return o.parent
	}
	return ""
}

func explainText(o *output, x *permission.Explanation) {
	esc := pathresolver.EscapePath
	d := &x.Decision
	colour := colourBad
	if d.Allowed() {
		colour = colourGood
	}
	o.stdout.printf("%s: %s '%s'\n", o.stdout.paint(colour, string(d.Effect)), d.Action, esc(d.Resource))
	for line := range strings.Lines(d.Reason()) {
		o.stdout.printf("  %s\n", esc(strings.TrimRight(line, "\n")))
	}
	for _, s := range x.Steps {
		says, where := string(s.Effect), ""
		if says == "" {
			says = "says nothing"
		}
		if s.Rule != "" {
			where = fmt.Sprintf(" by %s (%s)", s.Rule, s.Source)
		}
		layer := s.Layer
		if layer == "" {
			layer = "no layer speaks"
		}
		o.stdout.printf("  %-10s %s: %s%s\n", s.Stage, esc(layer), says, esc(where))
	}
}
