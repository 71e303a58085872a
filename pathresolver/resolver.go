package pathresolver

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/access"
)

// Resolver holds one directory under one policy. Make it with New, release it
// with Close.
//
// Its verbs each take an unsafePath, and return a *DeniedError when a
// rule refuses, an *fs.PathError or *os.LinkError with the system's errno
// otherwise. A refused or failed verb leaves everything as it was, except
// where it says so.
type Resolver struct {
	policy
	*tree
	plain bool // no rule about reading and no mount: a read may follow links in the kernel
	bound bool // paths are places: no link is followed
}

// tree is the directory that a Resolver holds, with what is known of it. Those
// that Granted and Bound return share it.
type tree struct {
	root      string // absolute, every link resolved
	rootGiven string // absolute, as the caller spelled it
	warnings  []Violation
	hardLinks HardLinks
	handles   // what the platform holds open

	linksMu sync.Mutex         // guards links
	links   map[linkKey]uint32 // files whose every extra link was made here: how many names that is
}

// Root returns the absolute path of the root with its links resolved. It is
// for messages and for setting up mounts, not for opening anything.
func (r *Resolver) Root() string { return r.root }

// WritePaths returns the write paths as places: sorted, without duplicates,
// none beneath another.
func (r *Resolver) WritePaths() []string { return slices.Clone(r.write) }

// ReadPaths returns the read paths as places: sorted, without duplicates, none
// beneath another. nil means that everything may be read.
func (r *Resolver) ReadPaths() []string { return slices.Clone(r.read.paths) }

// Warnings returns the findings that did not keep New from succeeding.
func (r *Resolver) Warnings() []Violation { return slices.Clone(r.warnings) }

// relative turns an unsafePath into one relative to the root, still unsafe:
// an absolute path beneath the root, as given or as resolved, loses that
// prefix. Nothing is cleaned, expanded or decoded.
func (r *Resolver) relative(op access.Op, unsafePath string) (string, error) {
	switch {
	case unsafePath == "":
		return "", r.refuse(op, unsafePath, RuleInvalidPath, "the path is empty")
	case strings.IndexByte(unsafePath, 0) >= 0:
		return "", r.refuse(op, unsafePath, RuleInvalidPath, "the path holds a NUL byte")
	case len(unsafePath) > maxPath:
		return "", r.refuse(op, unsafePath, RuleInvalidPath, "the path is longer than 4095 bytes")
	case !filepath.IsAbs(unsafePath) && unsafePath[0] != '/':
		if filepath.VolumeName(unsafePath) != "" {
			return "", r.refuse(op, unsafePath, RuleOutsideRoot, "the path names another volume")
		}
		return filepath.ToSlash(unsafePath), nil
	}
	if rel, ok := r.beneathRoot(unsafePath); ok {
		return filepath.ToSlash(rel), nil
	}
	return "", r.refuse(op, unsafePath, RuleOutsideRoot, "the path is absolute and lies outside the sandbox root")
}

// beneathRoot strips the root's text from an absolute path.
func (r *Resolver) beneathRoot(abs string) (rel string, ok bool) {
	for _, root := range []string{r.root, r.rootGiven} {
		rest, found := strings.CutPrefix(abs, strings.TrimSuffix(root, "/"))
		if !found || root == "" {
			continue
		}
		if rest == "" {
			return ".", true
		}
		if os.IsPathSeparator(rest[0]) {
			if rest = strings.TrimLeft(rest, "/"); rest == "" {
				rest = "."
			}
			return rest, true
		}
	}
	return "", false
}

// refuse builds a refusal that has no place.
func (r *Resolver) refuse(op access.Op, unsafePath string, rule access.Code, reason string) *DeniedError {
	d := r.denied(op, unsafePath, rule, reason)
	d.Place = ""
	return d
}

// pathError wraps what the system said, under the caller's own spelling.
func pathError(op, unsafePath string, err error) error {
	if err == nil {
		return nil
	}
	switch e := err.(type) {
	case *DeniedError:
		return e
	case *fs.PathError:
		err = e.Err
	}
	return &fs.PathError{Op: op, Path: unsafePath, Err: err}
}

// asGiven puts the caller's spelling into a refusal over a place.
func (d *DeniedError) asGiven(unsafePath string) *DeniedError {
	d.Path = unsafePath
	return d
}
