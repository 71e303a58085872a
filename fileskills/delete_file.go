package fileskills

import (
	"context"
	"errors"
	"syscall"
)

type deleteFileIn struct {
	Path deletePath `json:"path"`
}

var deleteFile = define(spec[deleteFileIn]{
	name:        "delete_file",
	description: "Removes a file, a link or an empty directory. It cannot be undone.",
	destructive: true,
	off:         true,
	meta:        "path",
	act: func(_ context.Context, c *call, in *deleteFileIn) (*Result, error) {
		place := c.placeOf(string(in.Path))
		err := c.fs.Remove(string(in.Path))
		if errors.Is(err, syscall.ENOTEMPTY) {
			return nil, fail(CodeIsDirectory, string(in.Path), "%s is a directory that is not empty. Nothing was removed.", shown(string(in.Path)))
		}
		if err != nil {
			return nil, err
		}
		c.noteMoved(place, "")
		return &Result{Text: "Removed " + shown(string(in.Path)) + ".", Meta: Meta{Path: place}}, nil
	},
})
