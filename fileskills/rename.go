package fileskills

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"syscall"

	"github.com/pinfold-dev/pinfold/access"
)

type renameIn struct {
	Source      movePath `json:"source"`
	Destination movePath `json:"destination" jsonschema:"full new name"`
	Overwrite   bool     `json:"overwrite,omitzero" jsonschema:"replace a file or empty directory"`
}

var rename = define(spec[renameIn]{
	name:        "rename",
	description: "Renames or moves a file or directory, and makes missing directories. Both names must be writable.",
	destructive: true,
	meta:        "path created",
	act:         actRename,
})

func actRename(ctx context.Context, c *call, in *renameIn) (*Result, error) {
	source, destination := string(in.Source), string(in.Destination)
	from, err := c.fs.Lstat(source)
	if err != nil {
		return nil, err
	}
	to, err := c.fs.Lstat(destination)
	switch {
	case isMissing(err):
	case err != nil:
		return nil, err
	case sameFile(from, to):
		// The system would call it a success and leave both names.
		return nil, fail(CodeInvalidArgument, destination, "source and destination are the same file. Nothing was changed.")
	case to.IsDir() && (!in.Overwrite || !from.IsDir()):
		return nil, fail(CodeIsDirectory, destination, "%s is a directory. Nothing was changed.", shown(destination)).
			hint("Give the full new name: %s", shown(path.Join(destination, path.Base(source))))
	case in.Overwrite && from.IsDir() && !to.IsDir():
		return nil, fail(CodeNotDirectory, destination, "%s is no directory: %s, which is one, does not replace it. Nothing was changed.", shown(destination), shown(source))
	case !in.Overwrite:
		return nil, existing(destination)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	place := c.placeOf(source)
	undo, err := c.makeParents(destination)
	if err != nil {
		return nil, err
	}
	if err := c.fs.Rename(source, destination, in.Overwrite); err != nil {
		undo()
		return nil, renameError(err, source, destination)
	}
	meta := Meta{Path: c.placeOf(destination), Created: to == nil}
	c.noteMoved(place, meta.Path)
	return &Result{Text: fmt.Sprintf("Renamed %s to %s.", shown(source), shown(destination)), Meta: meta}, nil
}

// makeParents makes the missing directories above the place that a path leads
// to. undo removes those that it made, as long as they are empty.
func (c *call) makeParents(unsafePath string) (undo func(), err error) {
	place, err := c.fs.Resolve(access.FSMove, unsafePath)
	if err != nil {
		return nil, err
	}
	var missing []string // the deepest first
	for dir := path.Dir(place); dir != "."; dir = path.Dir(dir) {
		if _, err := c.fs.Lstat(dir); !isMissing(err) {
			break
		}
		missing = append(missing, dir)
	}
	undo = func() {
		for _, dir := range missing {
			if c.fs.Remove(dir) != nil {
				return // somebody else has put something into it
			}
		}
	}
	if len(missing) == 0 {
		return undo, nil
	}
	if _, err := c.fs.MkdirAll(missing[0]); err != nil {
		undo()
		return nil, err
	}
	return undo, nil
}

// renameError says which of both names is meant where the system does not.
func renameError(err error, source, destination string) error {
	switch {
	case errors.Is(err, syscall.ENOTEMPTY):
		return fail(CodeAlreadyExists, destination, "%s is a directory that is not empty. Nothing was changed.", shown(destination)).
			hint("Move into it, or choose another name: a directory with content is never replaced.")
	case errors.Is(err, fs.ErrExist):
		return existing(destination)
	case isMissing(err):
		return fail(CodeNotFound, destination, "%s or the directory of %s has just been removed. Nothing was changed.", shown(source), shown(destination))
	case errors.Is(err, syscall.EINVAL):
		return fail(CodeInvalidArgument, destination, "%s cannot become %s: a directory does not move into itself, and neither name may be \".\" or \"..\". Nothing was changed.", shown(source), shown(destination))
	case errors.Is(err, syscall.EXDEV):
		return fail(CodeCrossDevice, destination, "%s lies on another file system. Nothing was changed.", shown(destination)).
			hint("Copy it with copy_file instead.")
	}
	return err
}
