//go:build !portable

package pathresolver

import (
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// noRoot marks the handles as not open yet.
func (r *Resolver) noRoot() { r.rootFD = -1 }

// examine looks at the existing part of a write path: no component may be a
// link, none but the last a file.
func (r *Resolver) examine(place string) cause {
	names := strings.Split(place, "/")
	at := "."
	for i, name := range names {
		at = joinPlace(at, name)
		if place == "." {
			at = "."
		}
		fd, err := r.OpenPlace(at, unix.O_PATH|unix.O_NOFOLLOW, 0)
		switch {
		case err == unix.ENOENT:
			return cause{}
		case err == unix.EXDEV:
			return cause{code: CodePathMount, text: "crosses a mount that cannot be admitted"}
		case err != nil:
			return cause{code: CodePathUnreadable, text: "cannot be examined: " + reason(err)}
		}
		var st unix.Stat_t
		err = fsat.Fstat(fd, &st)
		c := cause{}
		switch kind := st.Mode & unix.S_IFMT; {
		case err != nil:
			c = cause{code: CodePathUnreadable, text: "cannot be examined: " + reason(err)}
		case kind == unix.S_IFLNK:
			c = r.linkCause(fd, at)
		case kind == unix.S_IFDIR:
		case i < len(names)-1:
			c = cause{code: CodePathBeneathFile, text: "lies beneath '" + EscapePath(at) + "', which is a file"}
		case kind != unix.S_IFREG:
			c = cause{code: CodePathSpecial, text: "is a device, a FIFO or a socket"}
		}
		_ = unix.Close(fd)
		if c.code != "" {
			return c
		}
	}
	return cause{}
}

// linkCause tells a link that stays inside from one that leads out. Both are
// refused: a write path is a place, and a link could lead elsewhere tomorrow.
func (r *Resolver) linkCause(fd int, at string) cause {
	text, err := fsat.Readlink(fd)
	if err != nil {
		return cause{code: CodePathUnreadable, text: "cannot be examined: " + reason(err)}
	}
	c := cause{
		code:   CodePathSymlink,
		text:   "has a symbolic link in it: '" + EscapePath(at) + "' -> '" + EscapePath(text) + "'",
		link:   at,
		target: text,
		hint:   "name the directory that the link leads to",
	}
	var out *errLeaves
	if _, err := r.walk(at, true); errors.As(err, &out) {
		c.code = CodePathSymlinkOut
		c.hint = "'" + EscapePath(at) + "' is a symbolic link to '" + EscapePath(text) + "'"
	}
	return c
}

// maxSiblings bounds how much of a directory is read to find a case collision.
const maxSiblings = 10000

func (r *Resolver) siblings(place string) []string {
	fd, err := r.OpenPlace(place, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), fsat.ProcPath(fd))
	defer f.Close()
	names, _ := f.Readdirnames(maxSiblings)
	return names
}

// refusedMounts are the places of mounts that are not admitted.
func (r *Resolver) refusedMounts() []string { return r.refused }

// submodules are the rules for the submodules that the project has now.
func (r *Resolver) submodules() []glob {
	fd, err := r.OpenPlace(".gitmodules", unix.O_RDONLY|always, 0)
	if err != nil {
		return nil // none, or a link, which git does not follow either
	}
	f := os.NewFile(uintptr(fd), ".gitmodules")
	defer f.Close()
	if id, err := fsat.Identify(fd); err != nil || id.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, maxModules))
	if err != nil {
		return nil
	}
	return guardSubmodules(string(text), func(place string) bool {
		fd, err := r.OpenPlace(place, unix.O_PATH|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
		if err != nil {
			return false
		}
		fsat.ClosePath(fd)
		return true
	})
}

// guardGit looks at .git: where it is a file it points at a repository
// elsewhere, and is protected like the rest of what decides where git goes.
func (r *Resolver) guardGit(f *findings, wanted bool) {
	fd, err := r.OpenPlace(".git", unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		if wanted && err == unix.ENOENT {
			f.add(Violation{Code: CodeGitMissing, Severity: SeverityWarning, Field: "git", Value: ".git",
				Message: "there is no .git beneath the sandbox root"})
		}
		return
	}
	defer unix.Close(fd)
	id, err := fsat.Identify(fd)
	if err != nil || id.Mode&unix.S_IFMT == unix.S_IFDIR {
		return
	}
	g, err := compileGlob(".git")
	if err != nil {
		panic("pathresolver: bug: .git is not a glob: " + err.Error())
	}
	if wanted {
		f.add(Violation{Code: CodeGitOutside, Field: "git", Value: ".git",
			Message: "'.git' is a file or a link: the repository lies elsewhere",
			Hint:    "run from the main work tree, or without --git; 'pinfold run --git' opens as much of it as the checkout needs"})
		return
	}
	r.addProtected(g)
}
