package fileskills

// Result is what a skill answers. A file's body stands in Text or in Parts,
// never in both, and never again in Meta.
type Result struct {
	Text  string `json:"text"`
	Meta  Meta   `json:"meta"`
	Parts []Part `json:"-"`
}

// Meta is the structured part of a result. Fields that a skill does not speak
// of are absent.
type Meta struct {
	Path         string `json:"path,omitempty"` // relative to the root, "/" between names
	Bytes        *int64 `json:"bytes,omitempty"`
	Lines        *int   `json:"lines,omitempty"`
	Start        *int   `json:"start,omitempty"` // first line shown, from 1
	End          *int   `json:"end,omitempty"`
	Total        *int   `json:"total,omitempty"`
	Truncated    bool   `json:"truncated,omitempty"`
	NextOffset   *int   `json:"next_offset,omitempty"`
	Hash         string `json:"hash,omitempty"` // of the whole content: sha256, hex
	Replacements *int   `json:"replacements,omitempty"`
	Added        *int   `json:"added,omitempty"` // lines
	Removed      *int   `json:"removed,omitempty"`
	Diff         string `json:"diff,omitempty"` // unified, cut at 8 KiB
	Created      bool   `json:"created,omitempty"`
	DryRun       bool   `json:"dry_run,omitempty"`
}

// Part is content that is not text, such as an image.
type Part struct {
	MIMEType string
	Data     []byte
}
