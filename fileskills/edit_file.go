package fileskills

import "context"

type editFileIn struct {
	Path         editPath `json:"path" jsonschema:"file"`
	OldString    string   `json:"old_string" jsonschema:"exact text, without line numbers"`
	NewString    string   `json:"new_string" jsonschema:"new text"`
	ReplaceAll   bool     `json:"replace_all,omitzero" jsonschema:"all occurrences"`
	DryRun       bool     `json:"dry_run,omitzero" jsonschema:"only the diff"`
	ExpectedHash string   `json:"expected_hash,omitzero" jsonschema:"sha256 the file must have"`
}

var editFile = define(spec[editFileIn]{
	name:        "edit_file",
	description: "Replaces a text that occurs exactly once in a file, or all occurrences.",
	destructive: true,
	act: func(ctx context.Context, c *call, in *editFileIn) (*Result, error) {
		return c.changeText(ctx, textChange{
			path: in.Path, expectedHash: in.ExpectedHash, dryRun: in.DryRun,
			plan: func(t *text) ([]edit, error) {
				return t.swaps(ctx, []swap{{in.OldString, in.NewString, in.ReplaceAll}}, func(int) string { return "" })
			},
		})
	},
})
