package check

import (
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

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
