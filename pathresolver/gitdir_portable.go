//go:build !linux || portable

package pathresolver

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// standsAt says what stands at a place. Files have no identity here, so that
// nothing counts as made through this resolver.
func (r *Resolver) standsAt(place string) (id FileID, typ fs.FileMode, ok bool) {
	info, err := r.dir.Lstat(filepath.FromSlash(place))
	switch {
	case err == nil:
		return FileID{}, info.Mode().Type(), true
	case errors.Is(err, fs.ErrNotExist):
		return FileID{}, 0, false
	}
	return FileID{}, fs.ModeIrregular, !errors.Is(err, errNotDirectory)
}

// kindsIn says of names in a directory what they are. No link is followed.
func (r *Resolver) kindsIn(dir string) (kindOf func(name string) (kind fs.FileMode, there bool), done func()) {
	return func(name string) (fs.FileMode, bool) {
		info, err := r.dir.Lstat(filepath.FromSlash(joinPlace(dir, name)))
		if err != nil {
			return 0, false
		}
		return info.Mode().Type(), true
	}, func() {}
}

// usedBy reports whether a .git above the root is there: whose it is cannot be told.
func usedBy(dotGit string) bool {
	_, err := os.Stat(dotGit)
	return err == nil
}

// namesIn lists a directory, at most maxGitNames of it.
func (r *Resolver) namesIn(place string) []string {
	f, err := r.dir.Open(filepath.FromSlash(place))
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxGitNames)
	return names
}

// decideArrivalAt is DecideArrival of what stands at a path of the root's.
func (r *Resolver) decideArrivalAt(old, place string) error {
	if r.git == nil {
		return nil
	}
	info, err := r.dir.Lstat(old)
	if err != nil {
		return err
	}
	a := Arrival{Mode: info.Mode()}
	if a.Mode.IsRegular() {
		if a.ID, err = r.count(old); err != nil {
			return err
		}
	}
	if d := r.DecideArrival(filepath.ToSlash(old), filepath.ToSlash(place), a); d != nil {
		return d.asGiven(filepath.ToSlash(old))
	}
	return nil
}
