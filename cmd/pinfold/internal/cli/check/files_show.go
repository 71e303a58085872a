package check

import (
	"slices"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/permission"
)

// colourOf is the colour of a severity.
func colourOf(s permission.Severity) string {
	switch s {
	case permission.Error:
		return cli.ColourBad
	case permission.Warning:
		return cli.ColourWarn
	}
	return cli.ColourDim
}

func filesText(o *cli.Output, r *filesReport) error {
	for _, p := range r.Problems {
		o.Stdout.Printf("%s: %s: %s\n", p.Position, o.Stdout.Paint(colourOf(p.Severity), string(p.Severity)+"["+p.Code+"]"), p.Message)
		if p.Hint != "" {
			o.Stdout.Printf("  hint: %s\n", p.Hint)
		}
	}
	if b := r.Baseline; b != nil && b.LeftOut > 0 {
		o.Stdout.Printf("%s left out: known in %s\n", cli.Plural(b.LeftOut, "finding"), b.File)
	}
	config := ""
	if r.Config != "" {
		config = " (" + r.Config + ")"
	}
	if !r.OK || r.Warnings > 0 {
		o.Stdout.Printf("%s, %s%s\n", cli.Plural(r.Errors, "error"), cli.Plural(r.Warnings, "warning"), config)
		return nil
	}
	o.Stdout.Printf("%s: %s%s\n", o.Stdout.Paint(cli.ColourGood, "ok"), cli.Plural(r.Files, "file"), config)
	return nil
}

func filesGitHub(o *cli.Output, r *filesReport) error {
	for _, p := range r.Problems {
		text := p.Message
		if p.Hint != "" {
			text += "\n" + p.Hint
		}
		command := string(p.Severity)
		if p.Severity == permission.Note {
			command = "notice"
		}
		o.Stdout.Printf("::%s file=%s,line=%d,col=%d,title=%s::%s\n", command, githubProperty(p.File), max(p.Line, 1), max(p.Column, 1),
			githubProperty("pinfold check: "+p.Code), githubData(text))
	}
	return nil
}

func filesSARIF(o *cli.Output, r *filesReport) error {
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
