package main

import (
	"encoding/json"
	"io"
)

// checkJSON prints the report as docs/schema/check.schema.json describes it.
func checkJSON(o *output, r *checkReport) error {
	if r.Violations == nil {
		r.Violations = []violation{} // "none" is an empty list, never null
	}
	return writeJSON(o.stdout, r)
}

// writeJSON prints v indented, and leaves <, > and & as they are.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
