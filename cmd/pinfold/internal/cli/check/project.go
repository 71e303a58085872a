package check

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/projectfile"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// project is the .pinfold.yaml that says what to check, "" where the flags do
// or where there is none.
func (f *checkFlags) project(cmd *cobra.Command) (string, error) {
	flags := false
	cmd.Flags().Visit(func(flag *pflag.Flag) { flags = flags || describesPolicy(flag) })
	if flags {
		return "", nil
	}
	for _, root := range f.roots {
		file := filepath.Join(root, policies.ProjectFile)
		if _, err := os.Lstat(file); err != nil {
			continue
		}
		if len(f.roots) > 1 {
			return "", cli.UsageError(errors.New("'"+file+"' says what to check: give one -C"), "")
		}
		return file, nil
	}
	return "", nil
}

// checkProject validates what a .pinfold.yaml names.
func checkProject(a *cli.App, f *checkFlags, file string) error {
	c, err := newFilesCheck(a.Out, f.roots[0])
	if err != nil {
		return err
	}
	defer c.close()
	c.project = hostfile.Display(file)
	own := *f
	if !c.addProject(&own, file) {
		own.writeBaseline = "" // of what would not be whole
	}
	return c.report(&own, filesReport{Config: c.project})
}

// addProject checks what a .pinfold.yaml names, and reports whether it stands.
func (c *filesCheck) addProject(f *checkFlags, file string) bool {
	data, err := hostfile.ReadWithin(c.root, file, projectfile.MaxSize)
	if err != nil {
		c.add(unreadable(file, err))
		return false
	}
	project, at, err := policies.DecodeProject(hostfile.Display(file), data)
	var bad *permission.DocumentError
	if errors.As(err, &bad) {
		for _, p := range bad.Problems {
			c.add(p)
		}
		return false
	}
	check, dir := &project.Check, filepath.Dir(file)
	if project.Run != nil {
		c.addRun(project.Run, at)
	}
	f.strict = f.strict || check.Strict
	c.addGlobs(dir, at, "policies", check.Policies, policies.PolicyFile)
	c.addGlobs(dir, at, "agents", check.Agents, policies.AgentFile)
	if check.Baseline != "" && f.baseline == "" && f.writeBaseline == "" {
		f.baseline = filepath.Join(dir, filepath.FromSlash(check.Baseline))
		if _, err := readBaseline(c.root, f.baseline); err != nil {
			f.baseline = ""
			c.add(permission.Problem{Position: at("check.baseline"), Severity: pathresolver.SeverityError, Code: "baseline", Path: "check.baseline",
				Message: err.Error(), Hint: "write it: pinfold check --write-baseline " + check.Baseline})
		}
	}
	return !slices.ContainsFunc(c.found, func(p permission.Problem) bool { return p.File == c.project })
}

// addGlobs checks the files of a list. An entry that covers none is an error: it
// would go on looking like a check.
func (c *filesCheck) addGlobs(dir string, at func(part string) access.Position, key string, list []string, kind policies.Kind) {
	if len(list) == 0 {
		return
	}
	fsys, err := c.openDir(dir)
	if err != nil {
		c.add(unreadable(dir, err))
		return
	}
	found, some := policies.Find(fsys, list, kind)
	for _, f := range found {
		c.addFound(filepath.Join(dir, filepath.FromSlash(f.Name)), f)
	}
	what, hint := "policy", "policies are *.yaml or *.yml"
	if kind == policies.AgentFile {
		what, hint = "agent definition", "definitions are *.md that begin with ---"
	}
	for i, glob := range list {
		if !some[i] {
			c.add(permission.Problem{Position: at("check." + key + "[" + strconv.Itoa(i) + "]"), Severity: pathresolver.SeverityError, Code: "no_match", Path: "check",
				Message: "'" + glob + "' covers no " + what, Hint: hint})
		}
	}
}

// addRun checks what the project says of runs, as run would with it.
func (c *filesCheck) addRun(run *policies.ProjectRun, at func(part string) access.Position) {
	c.files[c.project] = true
	cfg := pathresolver.Config{Root: c.root, WritePaths: run.Write, Git: run.Git != nil && *run.Git, Hide: run.Hide, Mask: run.Mask, Protect: run.Protect}
	for _, v := range validateForRun(cfg) {
		if part, ok := strings.CutPrefix(v.Field, "write_paths"); ok {
			v.Field = "write" + part
		}
		if v.Field == "root" {
			continue // it is of the machine, not of the file
		}
		c.add(permission.Problem{Position: at("run." + v.Field), Severity: v.Severity, Code: string(v.Code), Path: "run." + v.Field, Message: v.Message, Hint: v.Hint})
	}
	for i, path := range run.RO {
		if projectfile.HoldsHome(path) {
			part := "run.ro[" + strconv.Itoa(i) + "]"
			c.add(permission.Problem{Position: at(part), Severity: pathresolver.SeverityWarning, Code: "shows_home", Path: part,
				Message: "'" + path + "' shows all of a home, with its keys and tokens", Hint: "name the directories in it that are needed"})
		}
	}
}
