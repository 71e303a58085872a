package check

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// filesReport is what check found in policies and agent definitions. Its JSON
// form is docs/schema/check-files.schema.json.
type filesReport struct {
	OK       bool                 `json:"ok"`
	Errors   int                  `json:"errors"`
	Warnings int                  `json:"warnings"`
	Files    int                  `json:"files"`
	Config   string               `json:"config,omitempty"` // the .pinfold.yaml that was followed
	Baseline *baselineUse         `json:"baseline,omitempty"`
	Problems []permission.Problem `json:"problems"`
}

// onlyFiles refuses the flags that describe a policy where files do.
func (f *checkFlags) onlyFiles(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if describesPolicy(flag) {
			hint := "check the flags, or the files"
			if flag.Name == "policy" || flag.Name == "agent" {
				hint = "name that file beside the others, without --" + flag.Name
			}
			err = cli.UsageError(fmt.Errorf("--%s does not go with FILE", flag.Name), hint)
		}
	})
	if err == nil && len(f.roots) > 1 {
		err = cli.UsageError(errors.New("files are checked for one -C"), "")
	}
	return err
}

// describesPolicy reports whether a flag of check is about a policy, and not
// about how to check.
func describesPolicy(flag *pflag.Flag) bool {
	return !slices.Contains([]string{"directory", "format", "json", "strict", "baseline", "write-baseline"}, flag.Name)
}

// checkFiles validates policy files and agent definitions, and directories of
// them.
func checkFiles(a *cli.App, f *checkFlags, names []string) error {
	c, err := newFilesCheck(a.Out, f.roots[0])
	if err != nil {
		return err
	}
	defer c.close()
	for _, name := range names {
		c.addTree(name)
	}
	return c.report(f, filesReport{})
}

// report prints what was found, or writes the baseline that was asked for.
func (c *filesCheck) report(f *checkFlags, r filesReport) error {
	c.progress.done()
	if f.writeBaseline != "" {
		return c.writeBaseline(f.writeBaseline)
	}
	found := c.found
	if f.baseline != "" {
		known, err := readBaseline(c.root, f.baseline)
		if err != nil {
			return cli.UsageError(err, "")
		}
		found, r.Baseline = c.leaveOut(known)
	}
	r.Files = len(c.files)
	r.count(found, f.strict)
	if err := formatOf(f.format).files(c.out, &r); err != nil {
		return err
	}
	if !r.OK {
		return cli.Silent(cli.ExitFailed)
	}
	return nil
}

// count takes what was found, its text escaped.
func (r *filesReport) count(found []permission.Problem, strict bool) {
	r.Problems = []permission.Problem{}
	for _, p := range found {
		p.Message, p.Hint, p.File = pathresolver.EscapePath(p.Message), pathresolver.EscapePath(p.Hint), pathresolver.EscapePath(p.File)
		p.Path = pathresolver.EscapePath(p.Path)
		if strict && p.Severity == pathresolver.SeverityWarning {
			p.Severity = pathresolver.SeverityError
		}
		switch p.Severity {
		case pathresolver.SeverityError:
			r.Errors++
		case pathresolver.SeverityWarning:
			r.Warnings++
		}
		r.Problems = append(r.Problems, p)
	}
	r.OK = r.Errors == 0
}

// addTree checks a file, or the policies and agent definitions of a directory.
func (c *filesCheck) addTree(name string) {
	fsys, in, _, err := c.open(name)
	var dir fs.FS
	if err == nil {
		if info, e := fs.Stat(fsys, in); e == nil && info.IsDir() {
			dir, err = fs.Sub(fsys, in)
		}
	}
	if dir == nil || err != nil {
		c.addFile(name, kindOf(name))
		return
	}
	found, _ := policies.Find(dir, []string{"."}, policies.PolicyFile, policies.AgentFile)
	for _, f := range found {
		c.addFound(filepath.Join(name, filepath.FromSlash(f.Name)), f)
	}
	if len(found) == 0 {
		c.add(permission.Problem{Position: begin(name), Severity: pathresolver.SeverityWarning, Code: "no_files",
			Message: "the directory holds no policy and no agent definition", Hint: "policies are *.yaml or *.yml; definitions are *.md that begin with ---"})
	}
}

func (c *filesCheck) addFound(name string, f policies.Found) {
	if f.Err != nil {
		c.add(unreadable(name, f.Err))
		return
	}
	c.addFile(name, f.Kind)
}

// kindOf is what a file that was named is read as.
func kindOf(name string) policies.Kind {
	if filepath.Ext(name) == ".md" {
		return policies.AgentFile
	}
	return policies.PolicyFile
}

// begin is the first line of a file, which has no other place for a problem.
func begin(name string) access.Position {
	return access.Position{File: hostfile.Display(name), Line: 1, Column: 1}
}

func unreadable(name string, err error) permission.Problem {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return permission.Problem{Position: begin(name), Severity: pathresolver.SeverityError, Code: "unreadable", Message: "the file cannot be read: " + strings.ToLower(err.Error())}
}
