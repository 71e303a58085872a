package run

import (
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/live"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// begin makes the run known to 'pinfold ps' and the like. One that is inside another run
// is part of that: nothing inside may act on a run. A run that cannot be made known goes
// on without.
func (f *runFlags) begin(o *cli.Output, r *pathresolver.Resolver, told *refused, command []string) (err error) {
	if f.name != "" {
		if err := live.CheckName(f.name); err != nil {
			return err
		}
	}
	if inside.Run() {
		return nil
	}
	f.live, err = live.Begin(live.Record{
		Name: f.name, Root: cli.PathText(r.Root()), WritePaths: cli.Convert[cli.PathText](r.WritePaths()),
		Command: cli.CommandText(command), App: f.app,
	})
	if err != nil && o.Stderr.Terminal {
		o.Warning("'pinfold ps' will not list this run: " + err.Error())
	}
	if f.live != nil {
		told.files = append(told.files, &reportFile{f: f.live.Log, root: r.Root(), kept: true})
	}
	return nil
}
