package policyflag

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/internal/trusted"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// MaxProject is how many bytes are read as a .pinfold.yaml.
const MaxProject = 1 << 20

// protectProject protects the policies, agent definitions and baselines that the
// project's .pinfold.yaml names, whether or not this run uses them: what an agent
// writes there takes effect in the next run. If that file itself is opened for
// writing, nothing is added. If it cannot be understood that is an error, since nobody
// could say what to protect.
func protectProject(cfg *pathresolver.Config) error {
	file := filepath.Join(cfg.Root, policies.ProjectFile)
	protected, _ := trusted.New(cfg.Unprotect)
	if protected.Covers(policies.ProjectFile) == nil || len(cfg.WritePaths)+len(cfg.AskWrite) == 0 {
		return nil
	}
	data, err := hostfile.ReadWithin(cfg.Root, file, MaxProject)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var project policies.Project
	if err == nil {
		project, _, err = policies.DecodeProject(hostfile.Display(file), data)
	}
	if namesNothing(err) {
		return nil
	}
	if err != nil {
		return cli.UsageError(fmt.Errorf("'%s' says which policies to protect, and cannot be read: %w", hostfile.Display(file), err),
			"'pinfold check' says what is wrong with it; --unprotect "+policies.ProjectFile+" does without")
	}
	check := &project.Check
	for _, glob := range check.Policies {
		cfg.Protect = append(cfg.Protect, named(cfg.Root, glob, ".yaml", ".yml")...)
	}
	for _, glob := range check.Agents {
		cfg.Protect = append(cfg.Protect, named(cfg.Root, glob, ".md")...)
	}
	if check.Baseline != "" {
		cfg.Protect = append(cfg.Protect, ProtectList(cfg.Root, filepath.Join(cfg.Root, filepath.FromSlash(check.Baseline)))...)
	}
	return nil
}

// namesNothing reports whether all that is wrong with a .pinfold.yaml is that it
// names no file, yet: then there is none to protect.
func namesNothing(err error) bool {
	var e *permission.DocumentError
	return errors.As(err, &e) && !slices.ContainsFunc(e.Problems, func(p permission.Problem) bool {
		return p.Code != "missing_key" || p.Path != "check"
	})
}

// named are the globs that protect what an entry of .pinfold.yaml names: a file,
// what a glob matches, or the files with one of the suffixes in a directory. An
// entry that stands for the whole project names nothing in particular.
func named(root, entry string, suffixes ...string) []string {
	entry = strings.TrimSuffix(entry, "/**")
	if clean := path.Clean(entry); clean == "." || clean == "**" || clean == "**/*"+suffixes[0] {
		return nil
	}
	if strings.ContainsAny(entry, `*?[{\`) {
		return []string{entry}
	}
	at := filepath.Join(root, filepath.FromSlash(entry))
	globs := ProtectList(root, at)
	if ext := path.Ext(entry); slices.Contains(suffixes, ext) || ext == ".json" {
		return globs
	}
	var beneath []string
	for _, glob := range globs { // a directory, also one that is yet to come
		for _, suffix := range suffixes {
			beneath = append(beneath, glob+"/**/*"+suffix)
		}
	}
	return beneath
}
