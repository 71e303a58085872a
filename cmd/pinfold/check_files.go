package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	Problems []permission.Problem `json:"problems"`

	root   string
	strict bool
	agents map[string]string // where each agent's name stands
}

// filesFormats are the ways to print it, by the word that --format takes.
var filesFormats = map[string]func(*output, *filesReport) error{
	"text":   filesText,
	"json":   func(o *output, r *filesReport) error { return writeJSON(o.stdout, r) },
	"sarif":  filesSARIF,
	"github": filesGitHub,
}

// onlyFiles refuses the flags that describe a policy where files do.
func (f *checkFlags) onlyFiles(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains([]string{"directory", "format", "strict"}, flag.Name) {
			err = usageError(fmt.Errorf("--%s does not go with FILE", flag.Name), "check the flags, or the files")
		}
	})
	if err == nil && len(f.roots) > 1 {
		err = usageError(errors.New("files are checked for one -C"), "")
	}
	return err
}

// checkFiles validates policy files and agent definitions, and directories of
// them.
func checkFiles(a *app, root, format string, strict bool, names []string) error {
	show, ok := filesFormats[format]
	if !ok {
		return usageError(unknownWord("format", format, "text", "json", "sarif", "github"), "")
	}
	r := &filesReport{root: root, strict: strict, agents: map[string]string{}, Problems: []permission.Problem{}}
	for _, name := range names {
		r.addTree(name)
	}
	r.OK = r.Errors == 0
	if err := show(a.out, r); err != nil {
		return err
	}
	if !r.OK {
		return silent(exitFailed)
	}
	return nil
}

// addTree checks a file; of a directory every *.md that has front matter, and
// every *.yaml and *.yml.
func (r *filesReport) addTree(name string) {
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		r.addFile(name)
		return
	}
	before := len(r.Problems)
	files := r.Files
	err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			r.unreadable(path, err)
			r.place(path, len(r.Problems)-1)
		case d.IsDir() && path != name && (d.Name() == ".git" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.Type().IsRegular() && d.Name() != ".pinfold.yaml" && isDefinition(path):
			r.addFile(path)
		}
		return nil
	})
	if err != nil {
		r.unreadable(name, err)
		r.place(name, len(r.Problems)-1)
	}
	if r.Files == files && len(r.Problems) == before {
		_, in := beside(name)
		r.add(permission.Problem{Position: permission.Position{File: in, Line: 1, Column: 1}, Severity: permission.Warning, Code: "no_files",
			Message: "the directory holds no policy and no agent definition", Hint: "policies are *.yaml or *.yml; definitions are *.md that begin with ---"})
		r.place(name, before)
	}
}

// isDefinition reports whether a file found in a directory is meant.
func isDefinition(path string) bool {
	switch filepath.Ext(path) {
	case ".yaml", ".yml":
		return true
	case ".md":
		f, err := os.Open(path)
		if err != nil {
			return true // which addFile will say
		}
		defer f.Close()
		begin := make([]byte, 4)
		n, _ := f.Read(begin)
		return strings.HasPrefix(string(begin[:n]), "---")
	}
	return false
}

func (r *filesReport) unreadable(name string, err error) {
	_, in := beside(name)
	r.add(permission.Problem{Position: permission.Position{File: in, Line: 1, Column: 1}, Severity: permission.Error,
		Code: "unreadable", Message: fileError(name, err).Error()})
}

// addFile checks one file.
func (r *filesReport) addFile(name string) {
	r.Files++
	defer r.place(name, len(r.Problems))
	policy, found, err := r.compile(name)
	var bad *permission.DocumentError
	var unheld *permission.UnheldError
	switch {
	case errors.As(err, &bad):
		r.add(bad.Problems...)
		return
	case err != nil:
		r.unreadable(name, err)
		return
	}
	if policy == nil {
		return
	}
	held, err := policy.Resolver(r.root)
	if errors.As(err, &unheld) {
		r.add(append(found, permission.Problem{Position: unheld.Position, Severity: permission.Error, Code: "not_held", Message: unheld.Message, Hint: unheld.Hint})...)
		return
	}
	for _, v := range pathresolver.Validate(held.Config) {
		at, ok := held.Positions[v.Field]
		if !ok || strings.HasPrefix(at.File, "preset:") {
			continue // not of this file: the root, or a preset
		}
		// What stops a run is worth more than a warning about the same entry.
		found = slices.DeleteFunc(found, func(p permission.Problem) bool { return p.Position == at && p.Severity == permission.Warning })
		found = append(found, permission.Problem{Position: at, Severity: permission.Severity(v.Severity), Code: string(v.Code), Path: v.Field, Message: v.Message, Hint: v.Hint})
	}
	r.add(found...)
}

// place completes the names of files in the problems from first on: those of a
// file that was given by an absolute path, or by one with "..", are relative to
// its directory.
func (r *filesReport) place(name string, first int) {
	base := baseOf(name)
	for i := range r.Problems[first:] {
		if p := &r.Problems[first+i]; base != "." && !filepath.IsAbs(p.File) && !strings.HasPrefix(p.File, "preset:") {
			p.File = pathresolver.EscapePath(filepath.Join(base, p.File))
		}
	}
}

// compile reads a file as what its name says. A nil policy has been reported.
func (r *filesReport) compile(name string) (*permission.Policy, []permission.Problem, error) {
	from := policyFrom{policy: name}
	if filepath.Ext(name) == ".md" {
		from = policyFrom{agent: name}
	}
	policy, found, err := from.load(r.root, nil)
	var required *permission.WriteRequiredError
	if errors.As(err, &required) {
		return nil, nil, nil // its write paths come from the caller
	}
	if err != nil {
		return nil, nil, err
	}
	if from.agent == "" {
		return policy, policy.Lint(), nil
	}
	agent := policy.Name()
	if first, twice := r.agents[agent]; twice {
		_, in := beside(name)
		found = append(found, permission.Problem{Position: permission.Position{File: in, Line: 1, Column: 1}, Severity: permission.Error,
			Code: "duplicate_agent", Path: "name", Message: "agent '" + agent + "' is defined twice", Hint: "it is defined in " + first + " already"})
	}
	r.agents[agent] = name
	return policy, found, nil
}

// add counts problems. Notes are for a person who looks at one file.
func (r *filesReport) add(found ...permission.Problem) {
	if r.strict {
		found = permission.Strict(found)
	}
	for _, p := range found {
		p.Message, p.Hint, p.File = pathresolver.EscapePath(p.Message), pathresolver.EscapePath(p.Hint), pathresolver.EscapePath(p.File)
		p.Path = pathresolver.EscapePath(p.Path)
		switch p.Severity {
		case permission.Error:
			r.Errors++
		case permission.Warning:
			r.Warnings++
		case permission.Note:
			continue
		}
		r.Problems = append(r.Problems, p)
	}
}

func filesText(o *output, r *filesReport) error {
	for _, p := range r.Problems {
		colour := colourBad
		if p.Severity == permission.Warning {
			colour = colourWarn
		}
		o.stdout.printf("%s: %s: %s\n", p.Position, o.stdout.paint(colour, string(p.Severity)+"["+p.Code+"]"), p.Message)
		if p.Hint != "" {
			o.stdout.printf("  hint: %s\n", p.Hint)
		}
	}
	if !r.OK || r.Warnings > 0 {
		o.stdout.printf("%s, %s\n", plural(r.Errors, "error"), plural(r.Warnings, "warning"))
		return nil
	}
	o.stdout.printf("%s: %s\n", o.stdout.paint(colourGood, "ok"), plural(r.Files, "file"))
	return nil
}

func filesGitHub(o *output, r *filesReport) error {
	for _, p := range r.Problems {
		text := p.Message
		if p.Hint != "" {
			text += "\n" + p.Hint
		}
		o.stdout.printf("::%s file=%s,line=%d,col=%d,title=%s::%s\n", p.Severity, githubProperty(p.File), max(p.Line, 1), max(p.Column, 1),
			githubProperty("pinfold check: "+p.Code), githubData(text))
	}
	return nil
}

func filesSARIF(o *output, r *filesReport) error {
	run := newSARIFRun()
	for _, p := range r.Problems {
		text := p.Message
		if p.Hint != "" {
			text += "\n" + p.Hint
		}
		rule := sarifRule{ID: p.Code}
		if !slices.Contains(run.Tool.Driver.Rules, rule) {
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: p.Code, RuleIndex: slices.Index(run.Tool.Driver.Rules, rule), Level: string(p.Severity), Message: sarifText{Text: text},
			Locations: []sarifLocation{{
				Physical: sarifPhysical{Artifact: sarifArtifact{URI: fileURI(p.File)}, Region: &sarifRegion{StartLine: max(p.Line, 1), StartColumn: max(p.Column, 1)}},
				Logical:  []sarifLogical{{FullyQualifiedName: p.Path, Kind: "member"}},
			}},
			Properties: map[string]string{},
		})
	}
	return writeSARIF(o, run)
}
