//go:build !linux || portable

package pathresolver

import (
	"io/fs"
	"os"
)

// OpenRead opens a regular file, or a directory to be described, for reading.
// It never blocks on what it opens.
func (r *Resolver) OpenRead(unsafePath string) (*File, error) {
	var f *File
	err := r.at(OpRead, unsafePath, true, 0, func(_ string, w walked) error {
		if w.missing > 0 {
			return fs.ErrNotExist
		}
		opened, err := r.openKind(unsafePath, w.place, w.mode.Type())
		if err != nil {
			return err
		}
		f = &File{opened, w.place}
		return nil
	})
	if err != nil {
		return nil, pathError("open", unsafePath, err)
	}
	return f, nil
}

// File is a file that is open for reading, and the place where it was found.
type File struct {
	*os.File
	place string
}

// Place is where the file was found: relative to the root, no links.
func (f *File) Place() string { return f.place }
