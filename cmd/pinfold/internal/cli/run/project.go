package run

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/projectfile"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// takeProject turns the part run of the project's .pinfold.yaml into flags, beside those
// that were given. Without trust only what narrows is taken. A file that cannot be read
// is an error: nobody could say what it hides.
func (f *runFlags) takeProject(flags *pflag.FlagSet, o *cli.Output) error {
	if f.noProject || f.noSandbox {
		return nil
	}
	file, err := projectfile.Read(f.Root)
	if err != nil {
		return cli.UsageError(fmt.Errorf("what the project's file says of runs is not known: %w", err), "'pinfold check' says what is wrong with it; --no-project does without")
	}
	if file == nil || file.Project.Run == nil {
		return nil
	}
	state, err := file.State()
	if err != nil {
		o.Warning(err.Error())
	}
	f.project, f.trusted = file, state == projectfile.Agreed
	stands, left, err := f.TakeProject(flags, file.Project.Run, f.trusted)
	if err != nil {
		return err
	}
	if flags.Changed("home") {
		stands.Home = ""
	}
	f.ofProject = stands
	add, more := f.ofHost(flags, file.Project.Run)
	for _, s := range add {
		err = errors.Join(err, flags.Set(s.flag, s.value))
	}
	if err != nil {
		return err
	}
	policyflag.WarnUntrusted(o, file, f.Root, state, slices.Concat(left, more))
	return nil
}

// setting is a flag that is set for the user.
type setting struct{ flag, value string }

// ofHost are the flags that only run has, of a project's file, and the keys of those
// that are not taken without trust. A path that is not there and a variable that is not
// set are left out: the file is of everybody who works in the project.
func (f *runFlags) ofHost(flags *pflag.FlagSet, run *policies.ProjectRun) (add []setting, left []string) {
	if run.Net != "" && !flags.Changed("net") {
		add = append(add, setting{"net", string(run.Net)})
	}
	var wide []setting
	given := map[string]bool{}
	for _, kv := range f.env {
		key, _, _ := strings.Cut(kv, "=")
		given[key] = true
	}
	if run.Git != nil && *run.Git && f.trusted && f.authorWanted() && !flags.Changed("git-author") {
		wide = append(wide, setting{"git-author", "true"})
	}
	for _, path := range run.RO {
		if path = projectfile.Expand(path); exists(path) {
			wide = append(wide, setting{"ro", path})
		}
	}
	if run.Home != "" && !flags.Changed("home") {
		if path := projectfile.Expand(run.Home); path != "" {
			wide = append(wide, setting{"home", path})
		}
	}
	for _, name := range run.Env {
		if _, set := os.LookupEnv(name); set && !given[name] {
			wide = append(wide, setting{"env", name})
		}
	}
	if f.trusted {
		return append(add, wide...), nil
	}
	for _, s := range wide {
		if !slices.Contains(left, s.flag) {
			left = append(left, s.flag)
		}
	}
	return add, left
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return path != "" && err == nil
}

// tellProject says in one line what a trusted file opens, without what flags stand in the
// place of.
func (f *runFlags) tellProject(o *cli.Output) {
	if !f.trusted {
		return // of what was not taken a warning has told
	}
	if wide := projectfile.Widens(&f.ofProject); len(wide) > 0 {
		o.Stderr.Printf("pinfold: %s, which you trust: %s\n", pathresolver.EscapePath(f.project.Name), pathresolver.EscapePath(strings.Join(wide, "; ")))
	}
}
