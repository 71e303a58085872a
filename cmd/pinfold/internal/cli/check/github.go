package check

import (
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

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
