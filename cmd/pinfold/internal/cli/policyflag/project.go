package policyflag

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/projectfile"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/internal/trusted"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

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
	data, err := hostfile.ReadWithin(cfg.Root, file, projectfile.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var project policies.Project
	if err == nil {
		project, _, err = policies.DecodeProject(hostfile.Display(file), data)
	}
	if projectfile.NamesNothing(err) {
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

// TakeProject adds to the flags of a command what the project's file says of a policy, as
// if it were typed: what narrows in any case, what widens where the file is trusted.
// Write paths and --git that were typed, or a policy that was named, stand in the place of
// the file's; names that are hidden or protected are added. stands is the file without
// what such flags stand in the place of; left are the keys that would have widened and were
// not taken.
func (p *Flags) TakeProject(flags *pflag.FlagSet, run *policies.ProjectRun, trusted bool) (stands policies.ProjectRun, left []string, err error) {
	stands = *run
	named, err := p.Named.Given()
	if err != nil {
		return stands, nil, err
	}
	set := func(flag string, values ...string) {
		for _, value := range values {
			err = errors.Join(err, flags.Set(flag, value))
		}
	}
	widen := func(key, flag string, values ...string) {
		switch {
		case len(values) == 0:
		case trusted:
			set(flag, values...)
		default:
			left = append(left, key)
		}
	}
	set("hide", run.Hide...)
	set("mask", run.Mask...)
	set("protect", run.Protect...)
	if named {
		stands.Preset = ""
	} else if run.Preset != "" {
		widen("preset", "preset", run.Preset)
	}
	if named || flags.Changed("write-path") || flags.Changed("write-paths-from") {
		stands.Write = nil
	} else {
		if run.Write != nil && len(run.Write) == 0 {
			flags.Lookup("write-path").Changed = true // nobody else fills it in
		}
		widen("write", "write-path", run.Write...)
	}
	switch {
	case named || flags.Changed("git"):
		stands.Git = nil
	case run.Git == nil:
	case *run.Git:
		widen("git", "git", "true")
	default:
		set("git", "false")
	}
	return stands, left, err
}

// WarnUntrusted says what of a project's file was not taken, and what to type.
func WarnUntrusted(o *cli.Output, f *projectfile.File, root string, state projectfile.State, left []string) {
	if len(left) == 0 {
		return
	}
	is := "is not trusted"
	if state == projectfile.Changed {
		is = "has changed since it was trusted"
	}
	line := []string{"pinfold", "trust"}
	if root != "." {
		line = append(line, "-C", root)
	}
	o.Warning(fmt.Sprintf("'%s' %s: not taken from it: %s", f.Name, is, strings.Join(left, ", ")))
	o.Hint("'" + cli.ShellLine(line) + "' shows what it would open, and asks")
}
