package policy

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// launchFlags are the programs whose flags are known.
var launchFlags = map[string]func(*permission.Policy, launchOptions) launch{
	"claude": flagsClaude,
	"codex":  flagsCodex,
	"gemini": flagsGemini,

	"opencode": flagsOpencode,
}

// NewExport is the command policy export.
func NewExport(a *cli.App) *cobra.Command {
	var from policyflag.From
	var opt launchOptions
	var null bool
	var write []string
	programs := []string{"claude", "codex", "gemini", "opencode"}
	cmd := &cobra.Command{
		Use:   "export PROGRAM [flags]",
		Short: "Print the flags that tell an agent's own command line what a policy allows",
		Long: `export prints the flags of claude, codex or gemini that come closest to a policy,
so that nothing is offered that would be refused; of opencode, which has none, the value
of OPENCODE_PERMISSION. They are for manners: the view is the boundary. What no flag
can say is said on standard error. Inside 'pinfold run', or with --inside, the agent's
own sandbox is turned off, since it cannot be made there. Where no policy is named it is
that of the preset that the trusted .pinfold.yaml of DIR names.`,
		Example: `  pinfold run --agent .claude/agents/coder.md -- sh -c 'eval "claude $(pinfold policy export claude --agent .claude/agents/coder.md)"'
  pinfold policy export claude --agent .claude/agents/coder.md --headless -0 | xargs -0 claude -p 'fix the tests'`,
		Args:      cli.OneArg("PROGRAM"),
		ValidArgs: programs,
		RunE: func(_ *cobra.Command, args []string) error {
			flagsOf, ok := launchFlags[args[0]]
			if !ok {
				return cli.UsageError(cli.UnknownWord("program", args[0], programs...), "")
			}
			given, err := from.Given()
			if err != nil {
				return err
			}
			if err := cli.RefuseDashes("--write-path", write...); err != nil {
				return err
			}
			var p *permission.Policy
			var found []permission.Problem
			if given {
				if p, found, err = from.Load(opt.Root, policyflag.CallerOf(pathresolver.Config{WritePaths: write})); err != nil {
					return cli.UsageError(err, "")
				}
			} else if p, err = ofProject(a.Out, opt.Root, write, "name one by --agent, --policy or --preset"); err != nil {
				return err
			}
			if list := behind(p).Unlisted(); len(list) > 0 {
				u := list[0]
				return cli.UsageError(fmt.Errorf("-w %s: %s lists the write paths and %s is not among them", u.Path, from.Placed(u.List), u.Path), "flags only narrow a policy")
			}
			policyflag.PrintProblems(a.Out, slices.DeleteFunc(found, func(f permission.Problem) bool { return f.Severity == permission.SeverityNote }))
			if opt.Root, err = filepath.Abs(opt.Root); err != nil {
				return err
			}
			opt.Inside = opt.Inside || inside.Run()
			l := flagsOf(p, opt)
			for _, note := range l.Notes {
				a.Out.Hint(note)
			}
			if null {
				a.Out.Stdout.Printf("%s\x00", strings.Join(l.Args, "\x00"))
				return nil
			}
			a.Out.Stdout.Printf("%s\n", cli.ShellLine(l.Args))
			return nil
		},
	}
	from.Add(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&opt.Root, "directory", "C", ".", "the project's directory `DIR`")
	flags.StringArrayVarP(&write, "write-path", "w", nil, "a write path `PATH` that run is given beside the policy (repeatable)")
	flags.BoolVar(&opt.Inside, "inside", false, "the agent runs in 'pinfold run'; so it is where this command does")
	flags.BoolVar(&opt.Headless, "headless", false, "nobody is there to answer a prompt")
	flags.StringVar(&opt.Model, "model", "", "the `MODEL`, by the program's own name for it")
	flags.BoolVarP(&null, "null", "0", false, "end each flag with NUL instead of quoting it for a shell")
	return cmd
}
