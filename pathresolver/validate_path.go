package pathresolver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/pinfold-dev/pinfold/access"
)

// checkWritePath examines one write path and returns its place.
func (r *Resolver) checkWritePath(f *findings, field, given, root string, rootOK bool) (place string, ok bool) {
	if place, ok = r.checkPath(f, "allowed_write_path", field, given, root, rootOK); !ok {
		return "", false
	}
	v := Violation{Field: field, Value: given, Severity: SeverityError}
	shown := EscapePath(given)
	switch verdict := r.verdictAt(place); {
	case verdict.Hidden && verdict.Pattern == "", verdict.TraverseOnly:
		v.Code, v.Message = codePathNotReadable, fmt.Sprintf("allowed_write_path '%s' cannot be read: no read path covers it", shown)
		v.Hint = "name it among the read paths, too"
	case verdict.Hidden:
		v.Code, v.Message = codePathHidden, fmt.Sprintf("allowed_write_path '%s' is hidden by '%s'", shown, EscapePath(verdict.Pattern))
	case verdict.Masked:
		v.Code, v.Message = codePathProtected, fmt.Sprintf("allowed_write_path '%s' is masked by '%s', and what is masked is not changed", shown, EscapePath(verdict.Pattern))
		v.Hint = "choose another write path, or a narrower mask"
	case verdict.Protected:
		v.Code, v.Message = codePathProtected, fmt.Sprintf("allowed_write_path '%s' is protected by '%s'", shown, EscapePath(verdict.Pattern))
		v.Hint = "take the protection away with --unprotect, or choose another write path"
	}
	if t := r.trusted.Covers(place); t != nil && v.Code == "" {
		v.Code, v.Message = codePathProtected, fmt.Sprintf("allowed_write_path '%s' is protected: %s", shown, t)
		v.Hint = fmt.Sprintf("--unprotect '%s' opens it", t.Glob)
	}
	if v.Code != "" {
		f.add(v)
		return "", false
	}
	if t := r.trusted.LeadsTo(place); t != nil {
		f.add(Violation{Code: codePathTrusted, Severity: SeverityWarning, Field: field, Value: given,
			Message: fmt.Sprintf("allowed_write_path '%s' has files that programs run by themselves: they stay protected", shown),
			Hint:    fmt.Sprintf("--unprotect '%s' opens them", t.Name)})
	}
	r.warnCaseCollision(f, field, given, place)
	return place, true
}

// checkPath examines one path of the configuration, which messages call noun,
// and returns its place. Everything that can be said about it without the root
// is said even when the root is bad.
func (r *Resolver) checkPath(f *findings, noun, field, given, root string, rootOK bool) (place string, ok bool) {
	v := Violation{Field: field, Value: given}
	shown := EscapePath(given)
	fail := func(code access.Code, format string, args ...any) (string, bool) {
		v.Code, v.Message = code, fmt.Sprintf(format, args...)
		f.add(v)
		return "", false
	}
	outside := func(code access.Code) (string, bool) {
		return fail(code, noun+" '%s' is outside sandbox root '%s'", shown, EscapePath(r.shownRoot(root)))
	}
	switch {
	case given == "":
		return fail(codePathEmpty, "%s '' is empty", noun)
	case strings.IndexByte(given, 0) >= 0:
		return fail(codePathNUL, noun+" '%s' holds a NUL byte", shown)
	case len(given) > maxPath:
		return fail(codePathTooLong, noun+" '%s' is %d bytes long: at most %d are possible", abbreviate(shown), len(given), maxPath)
	}
	for c := range strings.SplitSeq(filepath.ToSlash(given), "/") {
		if len(c) > maxName {
			return fail(codePathTooLong, noun+" '%s' has a name of %d bytes: at most %d are possible", abbreviate(shown), len(c), maxName)
		}
		if c == ".." {
			v.Hint = `".." is not allowed in a ` + strings.ReplaceAll(strings.TrimPrefix(noun, "allowed_"), "_", " ")
			return outside(codePathDotDot)
		}
	}
	rel := given
	if filepath.IsAbs(given) {
		if r.rootGiven == "" {
			return "", false // the root's own finding says what is wrong
		}
		var code access.Code
		if rel, code = r.stripRoot(given); code != "" {
			return outside(code)
		}
	}
	place, _ = lexicalPlace(filepath.ToSlash(rel))
	if !rootOK {
		return "", false
	}
	if c := r.examine(place); c.code != "" {
		v.Link, v.Target, v.Hint = c.link, c.target, c.hint
		if c.code == codePathSymlinkOut {
			return outside(c.code)
		}
		return fail(c.code, noun+" '%s' %s", shown, c.text)
	}
	return place, true
}

// shownRoot is how messages name the root.
func (r *Resolver) shownRoot(root string) string {
	if r.rootGiven != "" {
		return r.rootGiven
	}
	return root
}

// stripRoot makes an absolute write path relative. Containment is a matter of
// real directories: a path that reaches the root by another spelling counts.
func (r *Resolver) stripRoot(abs string) (rel string, code access.Code) {
	abs = filepath.Clean(abs) // holds no "..": that was refused before
	if rel, ok := r.beneathRoot(abs); ok {
		return rel, ""
	}
	if root, err := os.Stat(r.rootGiven); err == nil {
		for at := abs; ; {
			if info, err := os.Stat(at); err == nil && os.SameFile(info, root) {
				return strings.TrimPrefix(strings.TrimPrefix(abs, at), string(filepath.Separator)), ""
			}
			up := filepath.Dir(at)
			if up == at {
				break
			}
			at = up
		}
	}
	for _, root := range []string{r.root, r.rootGiven} {
		if root != "" && strings.HasPrefix(abs, root) {
			return "", codePathPrefixSibling
		}
	}
	return "", codePathOutside
}

// abbreviate keeps a message readable when the value is not.
func abbreviate(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

// cause is why a write path is refused; code "" means that it is not.
type cause struct {
	code               access.Code
	text               string
	link, target, hint string
}

// warnCaseCollision speaks up about a sibling that differs by letter case: on
// a file system that folds case the two are one.
func (r *Resolver) warnCaseCollision(f *findings, field, given, place string) {
	parent, name := splitPlace(place)
	if name == "" {
		return
	}
	for _, sibling := range r.siblings(parent) {
		if sibling != name && fold(sibling) == fold(name) {
			f.add(Violation{Code: codePathCaseCollision, Severity: SeverityWarning, Field: field, Value: given,
				Message: fmt.Sprintf("allowed_write_path '%s' differs from '%s' by letter case only", EscapePath(given), EscapePath(sibling))})
			return
		}
	}
}

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
		fd, err := r.openPlace(at, oPath|oNoFollow, 0)
		switch {
		case err == syscall.ENOENT:
			return cause{}
		case err == syscall.EXDEV:
			return cause{code: codePathMount, text: "crosses a mount that cannot be admitted"}
		case err != nil:
			return cause{code: codePathUnreadable, text: "cannot be examined: " + reason(err)}
		}
		var st stat
		err = fstat(fd, &st)
		c := cause{}
		switch kind := st.Mode & syscall.S_IFMT; {
		case err != nil:
			c = cause{code: codePathUnreadable, text: "cannot be examined: " + reason(err)}
		case kind == syscall.S_IFLNK:
			c = r.linkCause(fd, at)
		case kind == syscall.S_IFDIR:
		case i < len(names)-1:
			c = cause{code: codePathBeneathFile, text: "lies beneath '" + EscapePath(at) + "', which is a file"}
		case kind != syscall.S_IFREG:
			c = cause{code: codePathSpecial, text: "is a device, a FIFO or a socket"}
		}
		closeHandle(fd)
		if c.code != "" {
			return c
		}
	}
	return cause{}
}

// linkCause tells a link that stays inside from one that leads out. Both are
// refused: a write path is a place, and a link could lead elsewhere tomorrow.
func (r *Resolver) linkCause(fd handle, at string) cause {
	text, err := readlinkOf(fd)
	if err != nil {
		return cause{code: codePathUnreadable, text: "cannot be examined: " + reason(err)}
	}
	c := cause{
		code:   codePathSymlink,
		text:   "has a symbolic link in it: '" + EscapePath(at) + "' -> '" + EscapePath(text) + "'",
		link:   at,
		target: text,
		hint:   "name the directory that the link leads to",
	}
	var out *errLeaves
	if _, err := r.walk(at, true); errors.As(err, &out) {
		c.code = codePathSymlinkOut
		c.hint = "'" + EscapePath(at) + "' is a symbolic link to '" + EscapePath(text) + "'"
	}
	return c
}

// maxSiblings bounds how much of a directory is read to find a case collision.
const maxSiblings = 10000

func (r *Resolver) siblings(place string) []string {
	fd, err := r.openPlace(place, os.O_RDONLY|oDirectory, 0)
	if err != nil {
		return nil
	}
	defer closeHandle(fd)
	list, _ := names(fd, maxSiblings)
	return list
}

// systemDirs are too broad as a root: exactly these.
var systemDirs = []string{
	"/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/media", "/mnt", "/opt",
	"/private", "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/var", "/var/tmp",
	"/Applications", "/Library", "/System", "/Users", "/Volumes",
}

// systemTrees are too broad as a root, and so is all that lies beneath them.
var systemTrees = []string{"/boot", "/dev", "/etc", "/proc", "/sys", "/System"}

// broadRoot says why a directory should not be a root without being asked
// for: "" if it may. root is absolute, with its links resolved.
func broadRoot(root string, info os.FileInfo) string {
	if filepath.Dir(root) == root {
		return "the root of the file system"
	}
	if home, err := os.UserHomeDir(); err == nil && home != "" {
		if h, err := os.Stat(home); err == nil && os.SameFile(h, info) {
			return "your home directory"
		}
		if real, err := filepath.EvalSymlinks(home); err == nil && strings.HasPrefix(real, root+string(filepath.Separator)) {
			return "a directory that holds your home directory"
		}
	}
	for _, dir := range systemDirs {
		if s, err := os.Stat(dir); err == nil && os.SameFile(s, info) {
			return "a system directory"
		}
	}
	for _, dir := range systemTrees {
		// /dev/shm is for users' files, and is not the system's.
		if strings.HasPrefix(root, dir+"/") && !strings.HasPrefix(root, "/dev/shm/") {
			return "a system directory"
		}
	}
	return ""
}
