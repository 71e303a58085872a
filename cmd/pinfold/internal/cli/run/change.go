package run

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/live"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// changer changes the rules of a run that goes on, for 'pinfold allow' and 'pinfold
// hide'. One change is made at a time.
type changer struct {
	f       *runFlags
	cfg     pathresolver.Config // as it is now, for what is shown inside
	view    *sandboxfs.View
	refused *refused
	asks    bool
	changes int
}

// maxChanges bounds how often the rules of one run change: what is shown inside is
// mounted anew each time.
const maxChanges = 1000

// changedLine is what a change adds to --report.
type changedLine struct {
	Time    string      `json:"time"`
	Changed live.Change `json:"changed"`
}

func (c *changer) change(control *launcher.Control, what live.Change) (done live.Changed, err error) {
	if err := control.Started(); err != nil {
		return done, err
	}
	if c.changes == maxChanges {
		return done, fmt.Errorf("the rules of this run have changed %d times: start another", maxChanges)
	}
	var open []string
	write, hide := cli.Convert[string](what.Write), cli.Convert[string](what.Hide)
	switch {
	case len(what.Write) > 0 && len(what.Hide) > 0:
		return done, errors.New("one thing at a time: a change that fails leaves the rules as they are")
	case len(what.Write) > 0:
		if err := c.refused.keepReports(c.view.Resolver(), write); err != nil {
			return done, err
		}
		err = c.view.Allow("pinfold allow", control.Mount, write...)
	default:
		open, err = c.view.Hide("pinfold hide", hide...)
	}
	if err != nil {
		return done, err
	}
	c.changes++
	c.cfg.Hide = slices.Concat(c.cfg.Hide, hide)
	c.refused.changed(what)
	r := c.view.Resolver()
	done = live.Changed{WritePaths: cli.Convert[cli.PathText](r.WritePaths()), Open: cli.Convert[cli.PathText](open)}
	if err := c.show(control, r); err != nil {
		done.Untold = err.Error()
	}
	return done, nil
}

// show tells what runs inside of the rules that hold now.
func (c *changer) show(control *launcher.Control, r *pathresolver.Resolver) error {
	f := c.f
	policy, err := inside.ShowPolicy(c.cfg, r, c.view.Arrangement(), f.beside.Show()...)
	if err != nil {
		return err
	}
	rules := inside.Rules(c.cfg, r, f.rulesAbout(c.asks))
	return control.Show(map[string][]byte{inside.PolicyFile: policy, inside.RulesFile: rules})
}

// changed tells of a change in the report.
func (c *refused) changed(what live.Change) {
	esc := func(list []cli.PathText) (out []cli.PathText) {
		for _, s := range list {
			out = append(out, cli.PathText(pathresolver.EscapePath(string(s))))
		}
		return out
	}
	line := changedLine{cli.TimeText(time.Now()), live.Change{Write: esc(what.Write), Hide: esc(what.Hide)}}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, file := range c.files {
		file.append(line)
	}
}

// keepReports refuses write paths beneath which a report of this run lies.
func (c *refused) keepReports(r *pathresolver.Resolver, paths []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, path := range paths {
		place := resolved.Explain(r, access.OpCreate, path).Place
		if place == "" {
			return &cli.ExitError{Code: cli.ExitFailed, Err: fmt.Errorf("'%s' is no place in '%s'", pathresolver.EscapePath(path), pathresolver.EscapePath(r.Root())),
				Hint: "name a path relative to the run's directory"}
		}
		for _, file := range c.files {
			at, err := pathOf(file.f)
			if err != nil {
				return err
			}
			if _, in := hostpath.Beneath(at, filepath.Join(r.Root(), place)); in {
				return fmt.Errorf("a report of this run lies beneath '%s': the command could rewrite it", pathresolver.EscapePath(path))
			}
		}
	}
	return nil
}
