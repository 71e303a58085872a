package policy

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/projectfile"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/permission"
)

// projectOf is the project's file, where it says something of runs, and whether it is
// trusted; nil where it says nothing, and inside a run, whose policy stands. One that
// cannot be read is told.
func projectOf(o *cli.Output, root string) (*projectfile.File, projectfile.State) {
	if inside.Run() {
		return nil, projectfile.Unknown
	}
	file, err := projectfile.Read(root)
	if err != nil {
		o.Warning(fmt.Sprintf("what the project's file says of runs is not known: %v", err))
		return nil, projectfile.Unknown
	}
	if file == nil || file.Project.Run == nil {
		return nil, projectfile.Unknown
	}
	state, err := file.State()
	if err != nil {
		o.Warning(err.Error())
	}
	return file, state
}

// ofProject is the policy that a run in the project holds where no flag names one: that
// of the preset in its file, with what else the file says of files and the network. write
// stands in the place of its write paths. Without a preset, or without trust, there is
// none, which is an error that ends in how.
func ofProject(o *cli.Output, root string, write []string, how string) (*permission.Policy, error) {
	file, state := projectOf(o, root)
	if file == nil || file.Project.Run.Preset == "" {
		return nil, cli.UsageError(errors.New("no policy is given"), how)
	}
	if state != projectfile.Agreed {
		policyflag.WarnUntrusted(o, file, root, state, []string{"preset"})
		return nil, cli.UsageError(errors.New("no policy is given"), how)
	}
	run := *file.Project.Run
	if write != nil {
		run.Write = write
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	p, err := policies.Of(permission.Options{Root: filepath.ToSlash(abs)}).(runner).OfRun(&run, file.At, "")
	if err != nil {
		return nil, cli.UsageError(err, "")
	}
	return p, nil
}
