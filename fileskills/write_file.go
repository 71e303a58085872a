package fileskills

import (
	"bytes"
	"context"
	"fmt"
)

type writeFileIn struct {
	Path         writePath `json:"path"`
	Content      string    `json:"content"`
	Overwrite    bool      `json:"overwrite,omitzero" default:"true" jsonschema:"false: fail if the file exists"`
	DryRun       bool      `json:"dry_run,omitzero" jsonschema:"only the diff"`
	ExpectedHash string    `json:"expected_hash,omitzero" jsonschema:"sha256 the file must have"`
}

var writeFile = define(spec[writeFileIn]{
	name:        "write_file",
	description: "Writes a whole file, and makes missing directories. To change a part use edit_file.",
	destructive: true,
	idempotent:  true,
	meta:        "path bytes lines hash created dry_run added removed diff",
	act:         actWriteFile,
})

// maxDiffInput is the largest old content that a diff is made against.
const maxDiffInput = 4 << 20

func actWriteFile(ctx context.Context, c *call, in *writeFileIn) (*Result, error) {
	rep, unlock, err := c.replace(ctx, string(in.Path), ReplaceOptions{MustBeNew: !in.Overwrite, Parents: true})
	if err != nil {
		return nil, err
	}
	defer unlock()
	defer rep.Close()
	old, warning, err := c.oldContent(ctx, rep, string(in.Path), in.ExpectedHash)
	if err != nil {
		return nil, err
	}
	content := []byte(in.Content)
	meta := Meta{
		Path: rep.Place(), Bytes: ptr(int64(len(content))), Lines: ptr(countLines(content)), Hash: hashOf(content),
		Created: rep.Old() == nil, DryRun: in.DryRun,
	}
	if rep.Old() != nil && old.raw != nil {
		if bytes.Equal(old.raw, content) {
			c.noteRead(rep.Place(), meta.Hash)
			return &Result{Text: shown(meta.Path) + " has exactly this content already. Nothing was written.", Meta: meta}, nil
		}
		var added, removed int
		meta.Diff, added, removed = diffTexts(rep.Place(), old.raw, content)
		meta.Added, meta.Removed = &added, &removed
	}
	if !in.DryRun {
		if err := writeWhole(ctx, rep, content); err != nil {
			return nil, err
		}
		if err := rep.Commit(ctx, old.still(ctx, string(in.Path))); err != nil {
			return nil, err
		}
		c.noteRead(rep.Place(), meta.Hash)
	}
	return &Result{Text: writtenText(meta, warning), Meta: meta}, nil
}

// writtenText is what a model reads of a file that was written whole.
func writtenText(m Meta, warning string) string {
	verb := "Wrote"
	switch {
	case m.DryRun && m.Created:
		verb = "Would create"
	case m.DryRun:
		verb = "Would write"
	case m.Created:
		verb = "Created"
	}
	text := fmt.Sprintf("%s %s: %s, %s", verb, shown(m.Path), count(*m.Lines, "line"), count(int(*m.Bytes), "byte"))
	if m.Added != nil {
		text += fmt.Sprintf(" (%s added, %d removed)", count(*m.Added, "line"), *m.Removed)
	}
	text += "."
	if m.DryRun {
		text += " Nothing was written."
	}
	if warning != "" {
		text += "\n" + warning
	}
	return text
}

func ptr[T any](v T) *T { return &v }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// countLines counts lines; the last need not end.
func countLines(content []byte) int {
	n := bytes.Count(content, []byte{'\n'})
	if len(content) > 0 && content[len(content)-1] != '\n' {
		n++
	}
	return n
}
