package project

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/projectfile"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

type trustFlags struct {
	root                    string
	show, yes, list, revoke bool
}

// NewTrust is the command trust.
func NewTrust(a *cli.App) *cobra.Command {
	var f trustFlags
	cmd := &cobra.Command{
		Use:   "trust [flags]",
		Short: "Let the .pinfold.yaml of a project open what it says to runs there",
		Long: `trust shows what the part run of the .pinfold.yaml in DIR would open to runs there,
and asks whether it may. What narrows a run, such as hide, needs no trust. Trust
is for these bytes in this directory: after any change of the file, and for
another directory in its place, it is given anew. It is kept where no run sees it.`,
		Example: `  pinfold trust
  pinfold trust --show
  pinfold trust --revoke -C ~/old-project`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error { return trust(a, &f) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.root, "directory", "C", ".", "the project's directory `DIR`")
	flags.BoolVar(&f.show, "show", false, "show what the file opens and takes away, and whether it is trusted, and change nothing")
	flags.BoolVar(&f.yes, "yes", false, "trust it without asking, for scripts")
	flags.BoolVar(&f.list, "list", false, "list the projects whose file is trusted")
	flags.BoolVar(&f.revoke, "revoke", false, "trust the file of DIR no longer; DIR need not exist")
	cmd.MarkFlagsMutuallyExclusive("show", "yes", "list", "revoke")
	_ = cmd.MarkFlagDirname("directory")
	return cmd
}

func trust(a *cli.App, f *trustFlags) error {
	switch {
	case inside.Run():
		return cli.UsageError(errors.New("trust is the operator's to give, and this is inside 'pinfold run'"), "type it outside")
	case f.list:
		return listTrusted(a.Out)
	case f.revoke:
		return revoke(a.Out, f.root)
	}
	file, err := projectfile.Read(f.root)
	if err != nil {
		return cli.UsageError(err, "'pinfold check' says more")
	}
	if file == nil {
		return cli.UsageError(fmt.Errorf("there is no %s in '%s'", policies.ProjectFile, f.root), "'pinfold init' writes one")
	}
	if file.Project.Run == nil {
		return cli.UsageError(fmt.Errorf("'%s' has no part 'run': there is nothing to trust", file.Name), "")
	}
	state, err := file.State()
	if err != nil {
		a.Out.Warning(err.Error())
	}
	describe(a.Out, file, state)
	if f.show {
		return nil
	}
	if !f.yes {
		if err := ask(a); err != nil {
			return err
		}
	}
	if err := file.Trust(); err != nil {
		return fmt.Errorf("trust is not kept: %w", err)
	}
	a.Out.Stdout.Printf("trusted\n")
	return nil
}

// describe says what a file does to runs, in plain words.
func describe(o *cli.Output, file *projectfile.File, state projectfile.State) {
	esc := pathresolver.EscapePath
	is := map[projectfile.State]string{projectfile.Unknown: "not trusted", projectfile.Changed: "changed since it was trusted", projectfile.Agreed: "trusted"}[state]
	o.Stdout.Printf("%s: %s (%s)\n", esc(filepath.Join(file.Dir, policies.ProjectFile)), is, file.Sum[:12])
	part := func(title string, list []string) {
		if len(list) == 0 {
			return
		}
		o.Stdout.Printf("%s\n", title)
		for _, line := range list {
			o.Stdout.Printf("  %s\n", esc(line))
		}
	}
	wide := projectfile.Widens(file.Project.Run)
	part("Once it is trusted, a run here", wide)
	part("In any case, a run here", file.Narrows())
	if len(wide) == 0 {
		o.Stdout.Printf("It opens nothing: no trust is needed.\n")
	}
}

// ask asks on a terminal.
func ask(a *cli.App) error {
	if !cli.CanAsk(a) {
		return cli.UsageError(errors.New("there is no terminal to ask on"), "--yes trusts it without asking")
	}
	yes, err := cli.AskYes(a, "Trust it?")
	if err == nil && !yes {
		a.Out.Stderr.Printf("not trusted\n")
		return cli.Silent(cli.ExitFailed)
	}
	return err
}

func listTrusted(o *cli.Output) error {
	list, err := projectfile.List()
	if err != nil {
		return err
	}
	for _, t := range list {
		state := ""
		file, err := projectfile.Read(t.Dir)
		switch {
		case err != nil || file == nil:
			state = "  (not there now)"
		default:
			if is, err := file.State(); err != nil || is != projectfile.Agreed {
				state = "  (changed since)"
			}
		}
		o.Stdout.Printf("%.12s %s %s%s\n", pathresolver.EscapePath(t.Sum), t.Time.Format("2006-01-02"), pathresolver.EscapePath(t.Dir), state)
	}
	return nil
}

func revoke(o *cli.Output, root string) error {
	dir, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	if at, err := hostpath.Resolve(root); err == nil {
		dir = at.Real
	}
	found, err := projectfile.Revoke(dir)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("no file of '%s' was trusted", dir)
	}
	o.Stdout.Printf("no longer trusted: %s\n", pathresolver.EscapePath(dir))
	return nil
}
