package fileskills

import "context"

type mkdirIn struct {
	Path createPath `json:"path"`
}

var makeDirectory = define(spec[mkdirIn]{
	name:        "mkdir",
	description: "Makes a directory and its missing parents; one that exists is no error.",
	idempotent:  true,
	meta:        "path created",
	act: func(_ context.Context, c *call, in *mkdirIn) (*Result, error) {
		created, err := c.fs.MkdirAll(string(in.Path))
		if err != nil {
			return nil, err
		}
		text := "Created directory " + shown(string(in.Path)) + "."
		if !created {
			text = "Directory " + shown(string(in.Path)) + " exists already."
		}
		place := string(in.Path)
		if d, err := c.fs.OpenDir(place); err == nil {
			place = d.Place()
			d.Close()
		}
		return &Result{Text: text, Meta: Meta{Path: place, Created: created}}, nil
	},
})
