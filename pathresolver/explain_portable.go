//go:build !linux || portable

package pathresolver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Explain says what would be decided about op at a path, and why, without
// doing it.
func (r *Resolver) Explain(op Op, unsafePath string) Decision {
	d := Decision{Op: op, Path: unsafePath, Writable: r.WritePaths(), Readable: r.ReadPaths()}
	w, err := r.locate(op, unsafePath, op != OpDelete && op != OpRename && op != OpLink)
	d.Link, d.Target = w.link, w.target
	if err == nil {
		d.Place, d.Exists = w.place, w.missing == 0
		if denied := r.Decide(op, w.place, w.mode); denied != nil {
			err = denied
		} else if d.Exists {
			err = r.refuseTraverseOnly(op, unsafePath, w.place, w.mode)
		}
	}
	var denied *DeniedError
	switch {
	case errors.As(err, &denied):
		d.Rule, d.Reason, d.Pattern, d.Origin = denied.Rule, denied.Reason, denied.Pattern, denied.Origin
	case err != nil:
		d.Reason = reason(err)
	default:
		d.Allowed, d.Reason = true, "it lies beneath the sandbox root"
		if op != OpRead {
			v := r.Verdict(w.place)
			d.Pattern, d.Origin, d.Reason = v.Pattern, v.Origin, v.whyWritable()
		}
	}
	return d
}

// examine looks at the existing part of a write path: no component may be a
// link, none but the last a file.
func (r *Resolver) examine(place string) cause {
	names := strings.Split(place, "/")
	for i := range names {
		at := strings.Join(names[:i+1], "/")
		info, err := r.dir.Lstat(filepath.FromSlash(at))
		switch {
		case errors.Is(err, os.ErrNotExist):
			return cause{}
		case err != nil:
			return cause{code: CodePathUnreadable, text: "cannot be examined: " + reason(err)}
		case info.Mode()&os.ModeSymlink != 0:
			text, _ := r.dir.Readlink(filepath.FromSlash(at))
			c := cause{code: CodePathSymlink, link: at, target: text,
				text: "has a symbolic link in it: '" + EscapePath(at) + "' -> '" + EscapePath(text) + "'",
				hint: "name the directory that the link leads to"}
			var denied *DeniedError
			if _, err := r.locate(OpRead, at, true); errors.As(err, &denied) {
				c.code = CodePathSymlinkOut
				c.hint = "'" + EscapePath(at) + "' is a symbolic link to '" + EscapePath(text) + "'"
			}
			return c
		case info.IsDir():
		case i < len(names)-1:
			return cause{code: CodePathBeneathFile, text: "lies beneath '" + EscapePath(at) + "', which is a file"}
		case !info.Mode().IsRegular():
			return cause{code: CodePathSpecial, text: "is a device, a FIFO or a socket"}
		}
	}
	return cause{}
}

// maxSiblings bounds how much of a directory is read to find a case collision.
const maxSiblings = 10000

func (r *Resolver) siblings(place string) []string {
	f, err := r.dir.Open(filepath.FromSlash(place))
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxSiblings)
	return names
}

// refusedMounts is for Linux, where mounts are told apart.
func (r *Resolver) refusedMounts() []string { return nil }

// submodules are the rules for the submodules that the project has now.
func (r *Resolver) submodules() []glob {
	text, err := r.dir.ReadFile(".gitmodules")
	if err != nil || len(text) > maxModules {
		return nil
	}
	return guardSubmodules(string(text), func(place string) bool {
		info, err := r.dir.Lstat(filepath.FromSlash(place))
		return err == nil && info.IsDir()
	})
}

// guardGit protects .git where it is a file or a link.
func (r *Resolver) guardGit(f *findings, wanted bool) {
	info, err := r.dir.Lstat(".git")
	switch {
	case err != nil && wanted:
		f.add(Violation{Code: CodeGitMissing, Severity: SeverityWarning, Field: "git", Value: ".git",
			Message: "there is no .git beneath the sandbox root"})
	case err != nil || info.IsDir():
	case wanted:
		f.add(Violation{Code: CodeGitOutside, Field: "git", Value: ".git",
			Message: "'.git' is a file or a link: the repository lies elsewhere",
			Hint:    "run from the main work tree, or without --git; 'pinfold run --git' opens as much of it as the checkout needs"})
	default:
		r.addProtected(glob{text: ".git", segs: []string{".git"}})
	}
}
