package check

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// examiner is what check asks of permission.Options, behind the door.
type examiner interface {
	Examine(fsys fs.FS, name string, kind policies.Kind, more ...func(x *policies.Examination, found []permission.Problem) []permission.Problem) ([]permission.Problem, error)
}

// filesCheck collects what is wrong with files.
type filesCheck struct {
	out      *cli.Output
	root     string // the project that their paths are relative to
	absRoot  string
	project  string            // the .pinfold.yaml that is followed
	files    map[string]bool   // those that were checked, by their displayed names
	agents   map[string]string // where each agent's name stands
	found    []permission.Problem
	seen     map[permission.Problem]bool // of what several files extend
	progress progress
	opened   map[string]*hostfile.Project // directories that files are read in
}

func newFilesCheck(out *cli.Output, root string) (*filesCheck, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(root); err != nil {
		return nil, cli.UsageError(hostfile.Named(root, err), "")
	} else if !info.IsDir() {
		return nil, cli.UsageError(fmt.Errorf("'%s' is not a directory", root), "")
	}
	return &filesCheck{out: out, root: root, absRoot: filepath.ToSlash(abs), files: map[string]bool{}, agents: map[string]string{},
		seen: map[permission.Problem]bool{}, progress: progress{out: out.Stderr}, opened: map[string]*hostfile.Project{}}, nil
}

// close lets go of what was opened.
func (c *filesCheck) close() {
	for _, fsys := range c.opened {
		fsys.Close()
	}
}

// openDir opens a directory, once, in which files are read.
func (c *filesCheck) openDir(dir string) (*hostfile.Project, error) {
	if fsys := c.opened[dir]; fsys != nil {
		return fsys, nil
	}
	fsys, err := hostfile.OpenProject(dir)
	if err == nil {
		c.opened[dir] = fsys
	}
	return fsys, err
}

// open is where a file is read, by which name, and the directory that messages
// put before such names.
func (c *filesCheck) open(name string) (fsys *hostfile.Project, in, base string, err error) {
	dir, in, base := hostfile.LocateWithin(c.root, name)
	fsys, err = c.openDir(dir)
	return fsys, in, base, err
}

// addFile checks one file, once.
func (c *filesCheck) addFile(name string, kind policies.Kind) {
	fsys, in, base, err := c.open(name)
	shown := hostfile.Display(filepath.Join(base, in))
	if c.files[shown] {
		return
	}
	c.files[shown] = true
	c.progress.step(len(c.files))
	named := func(x *policies.Examination, _ []permission.Problem) []permission.Problem {
		if kind != policies.AgentFile || x.Name == "" {
			return nil
		}
		return c.named(x, name)
	}
	var found []permission.Problem
	if err == nil {
		found, err = policies.Of(permission.Options{Root: c.absRoot}).(examiner).Examine(fsys, in, kind, named, c.hidesNothing, c.validate)
	}
	if err != nil {
		c.add(unreadable(shown, err))
		return
	}
	for _, p := range found {
		if p.Severity == permission.SeverityNote {
			continue // for a person who looks at one file
		}
		p.Position = place(base, p.Position)
		c.add(p)
	}
}

// add keeps a problem, once: what several files extend is examined with each.
func (c *filesCheck) add(p permission.Problem) {
	if !c.seen[p] {
		c.seen[p] = true
		c.found = append(c.found, p)
	}
}

// named refuses an agent's name that another definition has. A link to that definition
// does not count as another one.
func (c *filesCheck) named(x *policies.Examination, name string) []permission.Problem {
	first, twice := c.agents[x.Name]
	if !twice {
		c.agents[x.Name] = name
		return nil
	}
	if a, err := os.Stat(first); err == nil {
		if b, err := os.Stat(name); err == nil && os.SameFile(a, b) {
			return nil
		}
	}
	return []permission.Problem{{Position: x.NameAt, Severity: pathresolver.SeverityError, Code: "duplicate_agent", Path: "name",
		Message: "agent '" + x.Name + "' is defined twice", Hint: "it is defined in " + first + " already"}}
}

// validate is what the project says about the paths of a document.
func (c *filesCheck) validate(x *policies.Examination, found []permission.Problem) (more []permission.Problem) {
	if x.Config.Root == "" {
		return nil
	}
	cfg := x.Config
	cfg.Root = c.root
	for _, v := range pathresolver.Validate(cfg) {
		at, ok := x.Positions[v.Field]
		if !ok || strings.HasPrefix(at.File, "preset:") {
			continue // not of this file: the root, or a preset
		}
		if v.Severity == pathresolver.SeverityWarning && told(found, at) {
			continue
		}
		more = append(more, permission.Problem{Position: at, Severity: v.Severity, Code: string(v.Code), Path: v.Field, Message: v.Message, Hint: v.Hint})
	}
	return more
}

// told reports whether something is said about an entry already.
func told(found []permission.Problem, at access.Position) bool {
	return slices.ContainsFunc(found, func(p permission.Problem) bool { return p.Position == at })
}

// place is a position by the name that messages show: of a file that was given
// by an absolute path, or by one with "..", relative to its directory.
func place(base string, at access.Position) access.Position {
	if base != "." && !filepath.IsAbs(at.File) && !strings.HasPrefix(at.File, "preset:") {
		at.File = filepath.ToSlash(filepath.Join(base, at.File))
	}
	return at
}
