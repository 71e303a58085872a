package main

// checkJSON prints the report as docs/schema/check.schema.json describes it.
func checkJSON(o *output, r *checkReport) error {
	if r.Violations == nil {
		r.Violations = []violation{} // "none" is an empty list, never null
	}
	return writeJSON(o.stdout, r)
}
