package main

import "github.com/pinfold-dev/pinfold/pathresolver"

// checkText prints one line for each finding, with its code, and then what
// helps to mend it.
func checkText(o *output, r *checkReport) error {
	for _, v := range r.Violations {
		colour := colourBad
		if v.Severity == pathresolver.SeverityWarning {
			colour = colourWarn
		}
		head := o.stdout.paint(colour, string(v.Severity)+"["+string(v.Code)+"]")
		if len(r.Roots) > 1 {
			head += " " + v.Root + ":"
		}
		o.stdout.printf("%s %s: %s\n", head, v.Field, v.Message)
		if v.Hint != "" {
			o.stdout.printf("  hint: %s\n", v.Hint)
		}
	}
	if r.Errors > 0 {
		o.stdout.printf("%s, %s\n", plural(r.Errors, "error"), plural(r.Warnings, "warning"))
		return nil
	}
	o.stdout.printf("%s: %s beneath %s\n", o.stdout.paint(colourGood, "ok"), plural(r.checked, "write path"), rootsText(r.Roots))
	return nil
}

func rootsText(roots []string) string {
	if len(roots) == 1 {
		return "'" + roots[0] + "'"
	}
	return "each of " + plural(len(roots), "root")
}
