package policy

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/projectfile"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

func newPolicyDiff(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Say in words what a change of a policy widens and narrows",
		Long: `diff compares two policies: files, agent definitions or names of presets. It
prints a line for each thing that AFTER allows more or less, what widens first,
and exits with 1 when anything widens. A difference in spelling is none.

Of two directories it compares all that their .pinfold.yaml name and what these
say of runs, with a line for the file before what changes in it. A file that is new
is compared with what an agent has that nobody described: READ_ONLY, and sandboxed
for a policy. Where BEFORE has no .pinfold.yaml, what is new does not count as wider.`,
		Example: "  pinfold policy diff old/policy.yaml policy.yaml\n  pinfold policy diff READ_ONLY VERIFICATION\n  git worktree add ../before main && pinfold policy diff ../before .",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.UsageError(errors.New("diff takes two policies"), cli.SeeHelp(cmd))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if isDir(args[0]) && isDir(args[1]) {
				return diffProjects(a, args[0], args[1])
			}
			before, err := loadWithin(args[0])
			if err != nil {
				return err
			}
			after, err := loadWithin(args[1])
			if err != nil {
				return err
			}
			return widened(printChanges(a.Out, behind(before).DiffTo(after), ""))
		},
	}
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// printChanges prints what a policy allows more or less, and reports whether
// anything widens.
func printChanges(o *cli.Output, list []policies.Change, indent string) bool {
	for _, c := range list {
		colour := cli.ColourGood
		if c.Widens {
			colour = cli.ColourBad
		}
		o.Stdout.Printf("%s%s\n", indent, o.Stdout.Paint(colour, pathresolver.EscapePath(c.Text)))
	}
	return slices.ContainsFunc(list, func(c policies.Change) bool { return c.Widens })
}

func widened(widens bool) error {
	if widens {
		return cli.Silent(cli.ExitFailed)
	}
	return nil
}

// diffProjects compares every policy and agent definition that the
// .pinfold.yaml of either directory names, and what the two say of runs. What one
// names and the other does not is compared all the same: a change of that file
// hides nothing.
func diffProjects(a *cli.App, before, after string) error {
	old, err := readProject(before)
	if err != nil {
		return cli.UsageError(err, "")
	}
	now, err := readProject(after)
	if err != nil {
		return cli.UsageError(err, "'pinfold check' says more")
	}
	if !old.there && !now.there {
		return cli.UsageError(errors.New("neither directory has a "+policies.ProjectFile), "name two policies, or write the file")
	}
	adopted := old.there
	list := slices.Concat(old.files, now.files)
	slices.SortFunc(list, func(a, b policies.Found) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	list = slices.Compact(list)
	widens, err := printRuns(a.Out, old, now)
	if err != nil {
		return err
	}
	for _, f := range list {
		was, err := loadIn(before, f)
		if err != nil {
			return cli.UsageError(err, "")
		}
		is, err := loadIn(after, f)
		if err != nil {
			return cli.UsageError(err, "")
		}
		state := ""
		switch {
		case is == nil:
			a.Out.Stdout.Printf("%s: removed\n", pathresolver.EscapePath(f.Name))
			continue
		case was == nil:
			state = " (new)"
			if was, err = undescribed(f.Kind); err != nil {
				return err
			}
		}
		if changes := behind(was).DiffTo(is); len(changes) > 0 {
			a.Out.Stdout.Printf("%s:%s\n", pathresolver.EscapePath(f.Name), state)
			wider := printChanges(a.Out, changes, "  ")
			widens = widens || wider && (adopted || state == "")
		}
	}
	return widened(widens)
}

// printRuns prints what a change of the part run opens and takes away, and reports
// whether it counts as wider.
func printRuns(o *cli.Output, old, now *project) (widens bool, err error) {
	changes, err := diffRuns(old, now)
	if err != nil || len(changes) == 0 {
		return false, err
	}
	state := ""
	if !old.there {
		state = " (new)"
	}
	o.Stdout.Printf("%s, runs:%s\n", policies.ProjectFile, state)
	return printChanges(o, changes, "  ") && old.there, nil
}

// project is what a directory's .pinfold.yaml says, and the files that it names.
type project struct {
	there bool
	files []policies.Found
	run   policies.ProjectRun
	at    func(part string) access.Position
}

// place is where a part of run stands.
func (p *project) place(part string) access.Position {
	if p.at == nil {
		return access.Position{}
	}
	return p.at("run." + part)
}

func readProject(dir string) (*project, error) {
	file := filepath.Join(dir, policies.ProjectFile)
	data, err := hostfile.ReadWithin(dir, file, projectfile.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return &project{}, nil
	}
	if err != nil {
		return nil, hostfile.Named(file, err)
	}
	said, at, err := policies.DecodeProject(hostfile.Display(file), data)
	if err != nil {
		return nil, err
	}
	p := &project{there: true, at: func(part string) access.Position {
		pos := at(part)
		pos.File = policies.ProjectFile // as other files are named
		return pos
	}}
	if said.Run != nil {
		p.run = *said.Run
	}
	fsys, err := hostfile.OpenProject(dir)
	if err != nil {
		return nil, err
	}
	defer fsys.Close()
	p.files, _ = policies.Find(fsys, said.Check.Policies, policies.PolicyFile)
	agents, _ := policies.Find(fsys, said.Check.Agents, policies.AgentFile)
	p.files = append(p.files, agents...)
	for _, f := range p.files {
		if f.Err != nil {
			return nil, hostfile.Named(filepath.Join(dir, f.Name), f.Err)
		}
	}
	return p, nil
}

// loadIn compiles a file of a project; nil where it does not exist.
func loadIn(dir string, f policies.Found) (*permission.Policy, error) {
	fsys, err := hostfile.OpenProject(dir)
	if err != nil {
		return nil, err
	}
	defer fsys.Close()
	if _, err := fs.Stat(fsys, f.Name); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	opt := permission.Options{Root: ".", FS: fsys, Open: true}
	if f.Kind == policies.PolicyFile {
		policy, err := permission.Load(fsys, f.Name, opt)
		return policy, hostfile.Named(filepath.Join(dir, f.Name), err)
	}
	data, err := fs.ReadFile(fsys, f.Name)
	if err != nil {
		return nil, hostfile.Named(filepath.Join(dir, f.Name), err)
	}
	agent, err := permission.ParseAgent(f.Name, data)
	if err != nil {
		return nil, err
	}
	policy, _, err := agent.Policy(opt)
	return policy, err
}

// undescribed is the policy of an agent or a file that nothing describes.
func undescribed(kind policies.Kind) (*permission.Policy, error) {
	if kind == policies.AgentFile {
		return permission.Preset(permission.DefaultProfile, permission.Options{})
	}
	return permission.Preset("sandboxed", permission.Options{})
}
