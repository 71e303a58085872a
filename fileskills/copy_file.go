package fileskills

import (
	"context"
	"errors"
	"fmt"
	"path"
	"syscall"
)

type copyFileIn struct {
	Source      readPath  `json:"source"`
	Destination writePath `json:"destination" jsonschema:"full new name"`
	Overwrite   bool      `json:"overwrite,omitzero" jsonschema:"replace what exists"`
}

var copyFile = define(spec[copyFileIn]{
	name:        "copy_file",
	description: "Copies one file, and makes missing directories.",
	destructive: true,
	idempotent:  true,
	meta:        "path bytes created",
	act:         actCopyFile,
})

func actCopyFile(ctx context.Context, c *call, in *copyFileIn) (*Result, error) {
	source, destination := string(in.Source), string(in.Destination)
	src, err := c.fs.Open(source)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	was, err := src.Stat()
	if err != nil {
		return nil, err
	}
	if was.IsDir() {
		return nil, fail(CodeIsDirectory, source, "%s is a directory: only files are copied.", shown(source))
	}
	rep, unlock, err := c.replace(ctx, destination, ReplaceOptions{Parents: true, Perm: was.Mode().Perm()})
	if err != nil {
		return nil, intoDirectory(err, destination, source)
	}
	defer unlock()
	defer rep.Close()
	if rep.Place() == src.Place() {
		return nil, fail(CodeInvalidArgument, destination, "source and destination are the same file. Nothing was changed.")
	}
	if rep.Old() != nil && !in.Overwrite {
		return nil, existing(destination)
	}
	old, warning, err := c.oldContent(ctx, rep, destination, "")
	if err != nil {
		return nil, err
	}
	n, err := rep.CopyFrom(ctx, src)
	if err != nil {
		return nil, err
	}
	if now, err := src.Stat(); err != nil || !unchanged(was, now) {
		return nil, fail(CodeStaleFile, source, "%s changed while it was copied. Nothing was changed.", shown(source))
	}
	still := old.still(ctx, destination)
	if !in.Overwrite {
		still = func(now File) error {
			if now != nil {
				return existing(destination)
			}
			return nil
		}
	}
	if err := rep.Commit(ctx, still); err != nil {
		return nil, err
	}
	c.noteMoved(rep.Place(), "") // it has what the source has, whoever has read that
	text := fmt.Sprintf("Copied %s to %s: %s.", shown(source), shown(destination), count(int(n), "byte"))
	if warning != "" {
		text += "\n" + warning
	}
	return &Result{Text: text, Meta: Meta{Path: rep.Place(), Bytes: &n, Created: rep.Old() == nil}}, nil
}

// existing is the refusal to replace what is there.
func existing(unsafePath string) *Error {
	return fail(CodeAlreadyExists, unsafePath, "%s exists already. Nothing was changed.", shown(unsafePath)).
		hint("Choose another name, or set overwrite=true.")
}

// intoDirectory helps who names a directory where a full name is wanted.
func intoDirectory(err error, destination, source string) error {
	if !errors.Is(err, syscall.EISDIR) {
		return err
	}
	return fail(CodeIsDirectory, destination, "%s is a directory. Nothing was changed.", shown(destination)).
		hint("Give the full new name: %s", shown(path.Join(destination, path.Base(source))))
}
