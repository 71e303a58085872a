package check

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// format is a way to print what check found.
type format struct {
	name  string // as --format takes it
	roots func(*cli.Output, *checkReport) error
	files func(*cli.Output, *filesReport) error
}

var formats = []format{
	{"text", checkText, filesText},
	{"json", checkJSON, filesJSON},
	{"sarif", checkSARIF, filesSARIF},
	{"github", checkGitHub, filesGitHub},
}

func formatNames() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

// formatOf finds a format whose name has been checked.
func formatOf(name string) format {
	return formats[slices.IndexFunc(formats, func(f format) bool { return f.name == name })]
}

// checkText prints one line for each finding, with its code, and then what
// helps to mend it.
func checkText(o *cli.Output, r *checkReport) error {
	for _, v := range r.Violations {
		colour := cli.ColourBad
		if v.Severity == pathresolver.SeverityWarning {
			colour = cli.ColourWarn
		}
		head := o.Stdout.Paint(colour, string(v.Severity)+"["+string(v.Code)+"]")
		if len(r.Roots) > 1 {
			head += " " + v.Root + ":"
		}
		o.Stdout.Printf("%s %s: %s\n", head, v.Field, v.Message)
		if v.Hint != "" {
			o.Stdout.Printf("  hint: %s\n", v.Hint)
		}
	}
	if r.Errors > 0 {
		o.Stdout.Printf("%s, %s\n", cli.Plural(r.Errors, "error"), cli.Plural(r.Warnings, "warning"))
		return nil
	}
	o.Stdout.Printf("%s: %s beneath %s\n", o.Stdout.Paint(cli.ColourGood, "ok"), cli.Plural(r.checked, "write path"), rootsText(r.Roots))
	return nil
}

func rootsText(roots []string) string {
	if len(roots) == 1 {
		return "'" + roots[0] + "'"
	}
	return "each of " + cli.Plural(len(roots), "root")
}

// checkJSON prints the report as docs/schema/check.schema.json describes it.
func checkJSON(o *cli.Output, r *checkReport) error {
	if r.Violations == nil {
		r.Violations = []violation{} // "none" is an empty list, never null
	}
	return cli.WriteJSON(o.Stdout, r)
}

// checkGitHub prints workflow commands, which GitHub Actions shows beside the
// file: one `::error` or `::warning` line for each finding.
func checkGitHub(o *cli.Output, r *checkReport) error {
	for i := range r.Violations {
		v := &r.Violations[i]
		command := "error"
		if v.Severity == pathresolver.SeverityWarning {
			command = "warning"
		}
		var where string
		if file, line := r.place(v); file != "" {
			where = "file=" + githubProperty(file) + ","
			if line > 0 {
				where += "line=" + strconv.Itoa(line) + ","
			}
		}
		text := v.Message
		if v.Hint != "" {
			text += "\n" + v.Hint
		}
		if len(r.Roots) > 1 {
			text = v.Root + ": " + text
		}
		o.Stdout.Printf("::%s %stitle=%s::%s\n", command, where, githubProperty("pinfold check: "+string(v.Code)), githubData(text))
	}
	return nil
}

// githubData and githubProperty escape as the runner unescapes: what is left
// out here would let a path forge another command.
var (
	githubDataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubPropertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func githubData(s string) string     { return githubDataEscapes.Replace(s) }
func githubProperty(s string) string { return githubPropertyEscapes.Replace(s) }

// colourOf is the colour of a severity.
func colourOf(s pathresolver.Severity) string {
	switch s {
	case pathresolver.SeverityError:
		return cli.ColourBad
	case pathresolver.SeverityWarning:
		return cli.ColourWarn
	}
	return cli.ColourDim
}

// filesJSON prints it as docs/schema/check-files.schema.json describes it.
func filesJSON(o *cli.Output, r *filesReport) error { return cli.WriteJSON(o.Stdout, r) }

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
		if p.Severity == permission.SeverityNote {
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
