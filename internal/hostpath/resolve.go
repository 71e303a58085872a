package hostpath

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxLinks is how many links a name may lead over (path_resolution(7)).
const maxLinks = 40

// Path is a name and where it leads.
type Path struct {
	Real  string   // without links
	Links []string // each link on the way, in a directory without links
}

// Resolve follows a name to its file, which must exist.
func Resolve(name string) (Path, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return Path{}, err
	}
	return walk(abs, false)
}

// Follow is Resolve for what a link says, an absolute path in which a ".." means
// the directory above what stands before it, as it does to the kernel. From the
// first name on that is missing, Real is what the text says.
func Follow(path string) (Path, error) { return walk(path, true) }

func walk(name string, missing bool) (Path, error) {
	volume := filepath.VolumeName(name)
	separator := string(filepath.Separator)
	p := Path{Real: volume + separator}
	rest := name[len(volume):]
	for rest != "" {
		var first string
		first, rest, _ = strings.Cut(rest, separator)
		switch first {
		case "", ".":
			continue
		case "..":
			p.Real = filepath.Dir(p.Real) // without links it is the one above
			continue
		}
		at := filepath.Join(p.Real, first)
		info, err := os.Lstat(at)
		if missing && errors.Is(err, fs.ErrNotExist) {
			p.Real = filepath.Join(at, rest)
			return p, nil
		}
		if err != nil {
			return Path{}, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if rest != "" && !info.IsDir() {
				return Path{}, &fs.PathError{Op: "lstat", Path: at, Err: syscall.ENOTDIR}
			}
			p.Real = at
			continue
		}
		if p.Links = append(p.Links, at); len(p.Links) > maxLinks {
			return Path{}, &fs.PathError{Op: "readlink", Path: name, Err: errors.New("too many links")}
		}
		to, err := os.Readlink(at)
		if err != nil {
			return Path{}, err
		}
		if filepath.IsAbs(to) {
			p.Real = filepath.VolumeName(to) + separator
			to = to[len(filepath.VolumeName(to)):]
		}
		rest = to + separator + rest
	}
	return p, nil
}

// Unreachable reports whether an error of Place says that this user can neither
// have anything there nor make it: above it lies what is no directory, or one that
// may not be entered.
func Unreachable(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrPermission)
}

// Place is the real path of what an absolute name leads to, or would lead to once
// somebody makes what is missing of it.
func Place(name string) (real string, exists bool, err error) {
	if !filepath.IsAbs(name) {
		return "", false, &fs.PathError{Op: "lstat", Path: name, Err: errors.New("not an absolute path")}
	}
	there, rest := filepath.Clean(name), ""
	for {
		p, err := Resolve(there)
		if err == nil {
			return filepath.Join(p.Real, rest), rest == "", nil
		}
		up := filepath.Dir(there)
		if !errors.Is(err, fs.ErrNotExist) || up == there {
			return "", false, err
		}
		there, rest = up, filepath.Join(filepath.Base(there), rest)
	}
}

// Planted returns a link that p leads over and that lies beneath one of places, if
// p leads out of that place: whoever may write there chose where. Places are clean
// absolute paths without links.
func (p Path) Planted(places []string) (link string, found bool) {
	for _, link := range p.Links {
		if slices.ContainsFunc(places, func(place string) bool {
			_, lies := Beneath(link, place)
			_, stays := Beneath(p.Real, place)
			return lies && !stays
		}) {
			return link, true
		}
	}
	return "", false
}
