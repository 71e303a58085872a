//go:build !linux || portable

package pathresolver

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// dirHandle is what a Dir holds over os.Root.
type dirHandle struct{ f *os.File }

// Close releases the directory.
func (d *Dir) Close() error { return d.f.Close() }

func (r *Resolver) openWalk(unsafePath string) (*Dir, error) {
	var d *Dir
	err := r.at(OpRead, unsafePath, true, 0, func(_ string, w walked) (err error) {
		if w.missing > 0 {
			return fs.ErrNotExist
		}
		d, err = r.dirAt(unsafePath, w.place)
		return err
	})
	if err != nil {
		return nil, pathError("opendir", unsafePath, err)
	}
	return d, nil
}

// dirAt opens the directory that stands at a place.
func (r *Resolver) dirAt(unsafePath, place string) (*Dir, error) {
	f, err := r.openKind(unsafePath, place, fs.ModeDir)
	if err != nil {
		return nil, err
	}
	return &Dir{r: r, place: place, dirHandle: dirHandle{f}}, nil
}

// openKind opens what stands at a place if it has the given type, so that
// nothing is opened that could block.
func (r *Resolver) openKind(unsafePath, place string, kind fs.FileMode) (*os.File, error) {
	name := filepath.FromSlash(place)
	info, err := r.dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := r.refuseKind(OpRead, unsafePath, info.Mode()); err != nil {
		return nil, err
	}
	if err := r.refuseTraverseOnly(OpRead, unsafePath, place, info.Mode()); err != nil {
		return nil, err
	}
	if err := wrongKind(info.Mode().Type(), kind); err != nil {
		return nil, err
	}
	f, err := r.dir.Open(name)
	if err != nil {
		return nil, err
	}
	if err := r.same(OpRead, unsafePath, name, f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func wrongKind(have, want fs.FileMode) error {
	switch {
	case have == want:
		return nil
	case have&fs.ModeSymlink != 0:
		return syscall.ELOOP
	case have.IsDir():
		return syscall.EISDIR
	}
	return syscall.ENOTDIR
}

// noLinks refuses a way down that leads over a link: os.Root would follow it.
func (d *Dir) noLinks(place string) error {
	for parent, name := splitPlace(place); name != "" && parent != d.place && parent != "."; parent, name = splitPlace(parent) {
		info, err := d.r.dir.Lstat(filepath.FromSlash(parent))
		if err != nil {
			return err
		}
		if err := wrongKind(info.Mode().Type(), fs.ModeDir); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dir) openSub(_, place string) (*Dir, error) {
	if err := d.noLinks(place); err != nil {
		return nil, err
	}
	return d.r.dirAt(place, place)
}

func (d *Dir) openFile(_, place string) (*File, error) {
	if err := d.noLinks(place); err != nil {
		return nil, err
	}
	f, err := d.r.openKind(place, place, 0)
	if err != nil {
		return nil, err
	}
	return &File{f, place}, nil
}

func (d *Dir) lstat(_, place string) (fs.FileInfo, error) {
	if err := d.noLinks(place); err != nil {
		return nil, err
	}
	return d.r.dir.Lstat(filepath.FromSlash(place))
}

func (d *Dir) readlink(_, place string) (string, error) {
	if err := d.noLinks(place); err != nil {
		return "", err
	}
	return d.r.dir.Readlink(filepath.FromSlash(place))
}

func (d *Dir) entries() ([]fs.DirEntry, error) {
	f, err := d.r.openKind(d.place, d.place, fs.ModeDir) // an offset of its own
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	kept := make([]fs.DirEntry, 0, len(list))
	for _, e := range list {
		if !d.r.VerdictIn(d.place, e.Name()).hidesEntry(e.Type()) {
			kept = append(kept, &walkEntry{dir: d, name: e.Name(), typ: e.Type()})
		}
	}
	return kept, err
}
