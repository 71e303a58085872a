package fileskills

import (
	"context"
	"fmt"
)

// maxBatch is how many edits one call of edit_file_batch takes.
const maxBatch = 1000

type editFileBatchIn struct {
	Path   editPath    `json:"path" jsonschema:"file"`
	Edits  []batchEdit `json:"edits" jsonschema:"matched against the file as it is; may not overlap"`
	DryRun bool        `json:"dry_run,omitzero" jsonschema:"only the diff"`
}

type batchEdit struct {
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all,omitzero"`
}

var editFileBatch = define(spec[editFileBatchIn]{
	name:        "edit_file_batch",
	description: "Several edits, as of edit_file, in one file: all or none.",
	destructive: true,
	act: func(ctx context.Context, c *call, in *editFileBatchIn) (*Result, error) {
		if n := len(in.Edits); n == 0 || n > maxBatch {
			return nil, fail(CodeInvalidArgument, string(in.Path), "edits must hold 1 to %d edits, not %d. Nothing was changed.", maxBatch, n)
		}
		swaps := make([]swap, len(in.Edits))
		for i, e := range in.Edits {
			swaps[i] = swap{e.OldString, e.NewString, e.ReplaceAll}
		}
		return c.changeText(ctx, textChange{
			path: in.Path, dryRun: in.DryRun,
			plan: func(t *text) ([]edit, error) {
				return t.swaps(ctx, swaps, func(i int) string { return fmt.Sprintf("edits[%d].", i) })
			},
		})
	},
})
