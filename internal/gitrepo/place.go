package gitrepo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks bounds the symbolic links of one path, as path_resolution(7) does.
const maxLinks = 40

// place is where a path leads.
type place struct {
	path   string      // without links, as far as it exists
	links  []string    // where the links stand that were passed, and what was missing before a ".."
	mode   fs.FileMode // the type of what is there
	exists bool
}

// resolve follows path as the kernel does: ".." after a link is the parent of
// where the link leads. What is missing, and what lies behind a directory that
// cannot be searched, is taken as written.
func (in *inspector) resolve(path string) (place, error) {
	sep := string(filepath.Separator)
	volume := filepath.VolumeName(path)
	at := volume + sep
	todo := path[len(volume):]
	for _, known := range in.known {
		if len(known) > len(at) && beneath(known, path) {
			at, todo = known, path[len(known):]
		}
	}
	p := place{mode: fs.ModeDir, exists: true}
	if in.dirs == nil {
		in.dirs = map[string]bool{}
	}
	rest := split(todo)
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if !p.exists || !p.mode.IsDir() {
				p.links = append(p.links, at) // as a link it would lead elsewhere
			}
			at = filepath.Dir(at)
			p.exists, p.mode = true, fs.ModeDir
			continue
		}
		at = filepath.Join(at, name)
		if !p.exists {
			continue
		}
		if in.dirs[at] {
			p.mode = fs.ModeDir
			continue
		}
		if in.looked++; in.looked > maxLooked {
			return p, errors.New("the configuration names too many paths")
		}
		info, err := os.Lstat(at)
		switch {
		case err != nil:
			p.exists, p.mode = false, 0
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return p, errors.New("too many symbolic links")
			}
			target, err := os.Readlink(at)
			if err != nil {
				return p, err
			}
			p.links = append(p.links, at)
			at = filepath.Dir(at)
			p.mode = fs.ModeDir
			if filepath.IsAbs(target) {
				volume := filepath.VolumeName(target)
				at, target = volume+sep, target[len(volume):]
			}
			rest = append(split(target), rest...)
		default:
			if p.mode = info.Mode().Type(); p.mode.IsDir() {
				in.dirs[at] = true
			}
		}
	}
	p.path = at
	return p, nil
}

func split(path string) []string {
	return strings.Split(filepath.ToSlash(path), "/")
}

// beneath reports whether path is dir or lies in it, by their names.
func beneath(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && dir != "" && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(dir[len(dir)-1]))
}

// join puts name behind dir without touching "..", which is for resolve.
func join(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return dir + string(filepath.Separator) + filepath.FromSlash(name)
}
