package fileskills

import "context"

type editFileIn struct {
	Path         EditPath `json:"path" jsonschema:"file to edit"`
	OldString    string   `json:"old_string" jsonschema:"exact text to replace, without line numbers; must occur once"`
	NewString    string   `json:"new_string" jsonschema:"text to put there"`
	ReplaceAll   bool     `json:"replace_all,omitzero" jsonschema:"replace every occurrence"`
	DryRun       bool     `json:"dry_run,omitzero" jsonschema:"only show the diff"`
	ExpectedHash string   `json:"expected_hash,omitzero" jsonschema:"refuse if the file has another sha256"`
}

var editFile = define(spec[editFileIn]{
	name:        "edit_file",
	description: "Replaces an exact text in a file. It must occur exactly once, unless replace_all is set. Line endings are kept.",
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
