package main

import (
	"slices"

	"github.com/pinfold-dev/pinfold/permission"
)

// colourOf is the colour of a severity.
func colourOf(s permission.Severity) string {
	switch s {
	case permission.Error:
		return colourBad
	case permission.Warning:
		return colourWarn
	}
	return colourDim
}

func filesText(o *output, r *filesReport) error {
	for _, p := range r.Problems {
		o.stdout.printf("%s: %s: %s\n", p.Position, o.stdout.paint(colourOf(p.Severity), string(p.Severity)+"["+p.Code+"]"), p.Message)
		if p.Hint != "" {
			o.stdout.printf("  hint: %s\n", p.Hint)
		}
	}
	if b := r.Baseline; b != nil && b.LeftOut > 0 {
		o.stdout.printf("%s left out: known in %s\n", plural(b.LeftOut, "finding"), b.File)
	}
	config := ""
	if r.Config != "" {
		config = " (" + r.Config + ")"
	}
	if !r.OK || r.Warnings > 0 {
		o.stdout.printf("%s, %s%s\n", plural(r.Errors, "error"), plural(r.Warnings, "warning"), config)
		return nil
	}
	o.stdout.printf("%s: %s%s\n", o.stdout.paint(colourGood, "ok"), plural(r.Files, "file"), config)
	return nil
}

func filesGitHub(o *output, r *filesReport) error {
	for _, p := range r.Problems {
		text := p.Message
		if p.Hint != "" {
			text += "\n" + p.Hint
		}
		command := string(p.Severity)
		if p.Severity == permission.Note {
			command = "notice"
		}
		o.stdout.printf("::%s file=%s,line=%d,col=%d,title=%s::%s\n", command, githubProperty(p.File), max(p.Line, 1), max(p.Column, 1),
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
