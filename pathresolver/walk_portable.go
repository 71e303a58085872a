//go:build !linux || portable

package pathresolver

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// The bounds on what a hostile tree can make one walk do.
const (
	maxLinks    = 40 // links followed in one walk, as in the Linux kernel
	maxAttempts = 16 // walks before an unstable path is given up
)

// walked is where an unsafe path leads.
type walked struct {
	place   string
	missing int // how many of its last components are missing
	mode    fs.FileMode
	link    string // the last link that was followed, as a place
	target  string // and its text
}

var (
	errTooManyLinks = errors.New("too many levels of symbolic links")
	errNotDirectory = syscall.ENOTDIR
)

// locate follows a path from name to name inside the root.
func (r *Resolver) locate(op Op, unsafePath string, follow bool) (w walked, err error) {
	rel, err := r.relative(op, unsafePath)
	if err != nil {
		return w, err
	}
	rel = filepath.ToSlash(rel)
	if filepath.VolumeName(rel) != "" {
		return w, r.refuse(op, unsafePath, RuleOutsideRoot, "the path names another volume")
	}
	at, links := ".", 0
	w.mode = fs.ModeDir
	for rest, more := rel, true; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			if at == "." {
				return w, r.leaves(op, unsafePath, &w)
			}
			at, _ = splitPlace(at)
			continue
		}
		next := joinPlace(at, name)
		info, err := r.dir.Lstat(filepath.FromSlash(next))
		if errors.Is(err, fs.ErrNotExist) {
			names := strings.Split(path.Clean(name+"/"+rest), "/")
			if strings.Contains("/"+rest+"/", "/../") {
				return w, fs.ErrNotExist
			}
			w.place, w.missing, w.mode = joinPlace(at, strings.Join(names, "/")), len(names), 0
			return w, nil
		}
		if err != nil {
			return w, err
		}
		last := strings.Trim(rest, "/") == ""
		switch kind := info.Mode(); {
		case kind&fs.ModeSymlink != 0 && (!last || more || follow):
			if links++; links > maxLinks {
				return w, errTooManyLinks
			}
			if w.target, err = r.dir.Readlink(filepath.FromSlash(next)); err != nil {
				return w, err
			}
			w.link = next
			text := w.target
			if filepath.IsAbs(text) {
				in, ok := r.beneathRoot(text)
				if !ok {
					return w, r.leaves(op, unsafePath, &w)
				}
				at, text = ".", in
			}
			if text = filepath.ToSlash(text); more {
				text += "/" + rest
			}
			rest, more = text, true
		case !kind.IsDir() && more:
			return w, errNotDirectory
		default:
			at, w.mode = next, kind
		}
	}
	if at != "." && w.mode == 0 || at == "." {
		w.mode = fs.ModeDir
	}
	if info, err := r.dir.Lstat(filepath.FromSlash(at)); err == nil {
		w.mode = info.Mode()
	}
	w.place = at
	return w, nil
}

func (r *Resolver) leaves(op Op, unsafePath string, w *walked) error {
	if w.link != "" {
		return r.refuse(op, unsafePath, RuleSymlinkEscape,
			"a symbolic link leads out of the sandbox root (the link is "+EscapePath(w.link)+")")
	}
	return r.refuse(op, unsafePath, RuleOutsideRoot, `".." climbs out of the sandbox root`)
}

// at decides op at the place that the path leads to and calls act with it.
func (r *Resolver) at(op Op, unsafePath string, follow bool, kind fs.FileMode, act func(place string, w walked) error) error {
	w, err := r.locate(op, unsafePath, follow)
	if err != nil {
		return err
	}
	if d := r.Decide(op, w.place, kind); d != nil {
		return d.asGiven(unsafePath)
	}
	return act(filepath.FromSlash(w.place), w)
}

// lookAt is at for seeing a name and its attributes.
func (r *Resolver) lookAt(unsafePath string, follow bool, act func(place string) error) error {
	w, err := r.locate(OpRead, unsafePath, follow)
	if err != nil {
		return err
	}
	if d := r.DecideLook(w.place); d != nil {
		return d.asGiven(unsafePath)
	}
	if w.missing == 0 {
		if err := r.refuseTraverseOnly(OpRead, unsafePath, w.place, w.mode); err != nil {
			return err
		}
	}
	return act(filepath.FromSlash(w.place))
}

// entryAt is at for operations on a directory entry, which the root has not.
func (r *Resolver) entryAt(op Op, unsafePath string, kind fs.FileMode, act func(place string) error) error {
	return r.at(op, unsafePath, false, kind, func(place string, w walked) error {
		switch {
		case place == ".":
			return syscall.EINVAL
		case w.missing > 1:
			return fs.ErrNotExist
		}
		return act(place)
	})
}
