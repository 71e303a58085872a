package check

import (
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
)

// checkJSON prints the report as docs/schema/check.schema.json describes it.
func checkJSON(o *cli.Output, r *checkReport) error {
	if r.Violations == nil {
		r.Violations = []violation{} // "none" is an empty list, never null
	}
	return cli.WriteJSON(o.Stdout, r)
}
