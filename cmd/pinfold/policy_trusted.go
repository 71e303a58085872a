package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// shownTrusted is an entry of the table of files that programs run by
// themselves, as `policy show --json` prints it.
type shownTrusted struct {
	pathresolver.TrustedFile
	Open bool `json:"open"` // the policy opens it
}

func shownTrustedFiles(open []string) []shownTrusted {
	var list []shownTrusted
	for _, f := range pathresolver.TrustedFiles() {
		list = append(list, shownTrusted{f, slices.Contains(open, f.Glob)})
	}
	return list
}

// policyList prints the presets, and what is protected by default.
func policyList(a *app, asJSON bool) error {
	files := shownTrustedFiles(nil)
	if asJSON {
		return writeJSON(a.out.stdout, struct {
			Presets   []string       `json:"presets"`
			Protected []string       `json:"protected"` // git's own
			Trusted   []shownTrusted `json:"trusted"`
		}{permission.Builtins(), pathresolver.DefaultProtected(), files})
	}
	out := a.out.stdout
	for _, name := range permission.Builtins() {
		out.printf("%s\n", name)
	}
	out.printf("\nFiles that programs run by themselves: protected beneath write paths, unless\n--unprotect NAME, or 'unprotect: [NAME]' in a policy's fs, opens them.\n\n")
	name, glob := 0, 0
	for _, f := range files {
		name, glob = max(name, len(f.Name)), max(glob, min(len(f.Glob), 40))
	}
	for _, f := range files {
		out.printf("%-*s  %-*s  %s\n", name, f.Name, glob, f.Glob, f.String())
	}
	return nil
}

// trusted prints, as comments after a policy's documents, which files that
// programs run by themselves it opens, and which it leaves protected.
func (o *output) trusted(p *permission.Policy) {
	var names []string
	for _, f := range shownTrustedFiles(p.Unprotected()) {
		if f.Open {
			o.stdout.printf("# opened: %s: %s\n", f.Glob, f.String())
		} else if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	line := "# protected, since programs run them by themselves ('pinfold policy show'):"
	for _, n := range names {
		if len(line)+1+len(n) > 80 {
			o.stdout.printf("%s\n", line)
			line = "#  "
		}
		line += " " + n
	}
	o.stdout.printf("%s\n", line)
}

func policyShowJSON(a *app, p *permission.Policy) error {
	type document struct {
		File     string          `json:"file"`
		Document json.RawMessage `json:"document"`
	}
	var documents []document
	for _, src := range p.Sources() {
		documents = append(documents, document{pathresolver.EscapePath(src.File), permission.EncodeJSON(src.Document)})
	}
	return writeJSON(a.out.stdout, struct {
		Documents []document     `json:"documents"`
		Trusted   []shownTrusted `json:"trusted"`
	}{documents, shownTrustedFiles(p.Unprotected())})
}

// protectProject protects the policies, agent definitions and baselines that
// the project's .pinfold.yaml names, whether or not this run uses them: what an
// agent writes there holds for the next. Where that file itself is opened,
// nothing is added. One that cannot be understood is an error: nobody could say
// what to protect.
func protectProject(cfg *pathresolver.Config) error {
	file := filepath.Join(cfg.Root, permission.ProjectFile)
	trusted, _ := pathresolver.NewTrustedSet(cfg.Unprotect)
	if trusted.Covers(permission.ProjectFile) == nil || len(cfg.WritePaths)+len(cfg.AskWrite) == 0 {
		return nil
	}
	data, err := readWithin(cfg.Root, file, maxProject)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var src *permission.ProjectSource
	if err == nil {
		src, err = permission.DecodeProject(display(file), data)
	}
	if namesNothing(err) {
		return nil
	}
	if err != nil {
		return usageError(fmt.Errorf("'%s' says which policies to protect, and cannot be read: %w", display(file), err),
			"'pinfold check' says what is wrong with it; --unprotect "+permission.ProjectFile+" does without")
	}
	check := &src.Project.Check
	for _, glob := range check.Policies {
		cfg.Protect = append(cfg.Protect, named(cfg.Root, glob, ".yaml", ".yml")...)
	}
	for _, glob := range check.Agents {
		cfg.Protect = append(cfg.Protect, named(cfg.Root, glob, ".md")...)
	}
	if check.Baseline != "" {
		cfg.Protect = append(cfg.Protect, protectList(cfg.Root, filepath.Join(cfg.Root, filepath.FromSlash(check.Baseline)))...)
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
	globs := protectList(root, at)
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
