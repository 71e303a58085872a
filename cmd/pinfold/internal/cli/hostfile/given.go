package hostfile

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/hostpath"
)

// Open opens the file that a flag names, as os.OpenFile does, and refuses to follow a
// link that a run may have planted (writtenPlaces): otherwise an agent that makes
// report.jsonl a link to ~/.bashrc would have the next run's --report written there.
// The path is walked again without links, so that what was decided about is what is
// opened. A record that cannot be read is reported when a run begins, not here. A link in
// one of the directories of also, real paths, is not followed out of it either.
func Open(flag, name string, mode int, perm os.FileMode, also ...string) (*os.File, error) {
	path, err := followGiven(name)
	if err != nil {
		return nil, err
	}
	places, _ := writtenPlaces()
	places = append(places, also...)
	if err := plantedError(flag, name, path, places); err != nil {
		return nil, err
	}
	for _, link := range path.Links {
		if _, magic := hostpath.Beneath(link, "/proc"); magic {
			return os.OpenFile(name, mode, perm) // /dev/stdin, or what the shell makes of <(...)
		}
	}
	// A FIFO that an agent made would hold up the open.
	if info, err := os.Lstat(path.Real); err == nil && !info.Mode().IsRegular() && liesIn(path.Real, places) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	f, err := hostpath.Open(path.Real, mode, perm)
	if pe, ok := err.(*fs.PathError); ok {
		pe.Path = name
	}
	return f, err
}

// Refuse is the decision of Open without opening anything: for a directory, or a file
// that is opened in another way.
func Refuse(flag, name string) error {
	_, err := Real(flag, name)
	return err
}

// Real is Refuse, and where the name leads, a path without links; "" where it leads
// nowhere. also are as in Open.
func Real(flag, name string, also ...string) (string, error) {
	path, err := followGiven(name)
	if err != nil {
		return "", nil // whoever opens it says why
	}
	places, _ := writtenPlaces()
	return path.Real, plantedError(flag, name, path, append(places, also...))
}

// followGiven is where a name leads that need not exist.
func followGiven(name string) (hostpath.Path, error) {
	if filepath.IsAbs(name) {
		return hostpath.Follow(name)
	}
	dir, err := os.Getwd()
	if err != nil {
		return hostpath.Path{}, err
	}
	return hostpath.Follow(dir + string(filepath.Separator) + name) // not cleaned: a ".." after a link is the kernel's
}

// liesIn reports whether path lies in one of places.
func liesIn(path string, places []string) bool {
	for _, place := range places {
		if _, ok := hostpath.Beneath(path, place); ok {
			return true
		}
	}
	return false
}

// maxHired is as much as a broker reads of a policy or an agent definition.
const maxHired = 1 << 20

// Read reads a policy or an agent definition. Of a file that is too long it reads just
// enough to tell.
func Read(flag, name string) ([]byte, error) {
	f, err := Open(flag, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	return io.ReadAll(io.LimitReader(f, maxHired+1))
}

// FS is os.DirFS for the file that a flag was given and those that it names in
// its turn: Open opens each.
type FS struct{ Flag, Dir string }

// Open opens a file beneath the directory.
func (g FS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) || strings.ContainsRune(name, 0) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return Open(g.Flag, filepath.Join(g.Dir, filepath.FromSlash(name)), os.O_RDONLY, 0)
}
