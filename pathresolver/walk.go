package pathresolver

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/pinfold-dev/pinfold/access"
)

// The bounds on what a hostile tree can make one walk do.
const (
	maxLinks    = 40      // links followed in one walk, as in the kernel
	maxText     = 1 << 16 // bytes of path still to go, links expanded
	maxAttempts = 16      // walks before an unstable path is given up
)

// walked is where an unsafe path leads. It holds nothing open: the caller opens the
// place again without following links, and walks once more where that meets one.
type walked struct {
	place   string // the place; the last components may be missing
	missing int    // how many of them: 0 means that the place exists
	mode    uint32 // type and permission bits, if it exists
	slash   bool   // the path demanded a directory by a trailing slash
	links   int
	link    string // the last link that was followed, as a place
	target  string // and its text
}

// errLeaves stops a walk that would leave the root.
type errLeaves struct {
	rule         access.Code
	reason       string
	link, target string
}

func (e *errLeaves) Error() string { return e.reason }

// walker resolves one path from handle to handle. Each component is
// opened without following it; a link is read by its own handle and its
// text put in front of what remains; ".." pops. The system never sees a "..",
// so no rename can move the walk out of the root.
type walker struct {
	r     *Resolver
	stack []step // the directories from the root down; never empty
	rest  string
	walked
}

type step struct {
	fd    handle
	name  string
	id    identity
	owned bool // the fd is the walk's, not the resolver's
}

// walk resolves a path relative to the root. follow tells whether a link as
// the last component is followed. The error is *errLeaves, or what the system
// said.
func (r *Resolver) walk(rel string, follow bool) (walked, error) {
	if len(rel) > maxPath {
		return walked{}, syscall.ENAMETOOLONG
	}
	w := walker{r: r, rest: rel, stack: make([]step, 1, 16)}
	w.stack[0] = step{fd: r.dir, id: r.dirID}
	defer w.pop(0)
	err := w.run(follow)
	return w.walked, err
}

// pop closes the directories deeper than depth.
func (w *walker) pop(depth int) {
	for len(w.stack) > depth {
		last := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if last.owned {
			closeHandle(last.fd)
		}
	}
}

func (w *walker) run(follow bool) error {
	for {
		name, tail, more := strings.Cut(w.rest, "/")
		w.rest = tail
		switch name {
		case "", ".":
			if !more {
				return w.arrive(nil, syscall.S_IFDIR|0o755)
			}
			continue
		case "..":
			if len(w.stack) == 1 {
				return w.leaves(RuleOutsideRoot, `".." climbs out of the sandbox root`)
			}
			w.pop(len(w.stack) - 1)
			if !more {
				return w.arrive(nil, syscall.S_IFDIR|0o755)
			}
			continue
		}
		only := strings.Trim(tail, "/") == ""
		done, err := w.enter(name, only, more, follow)
		if done || err != nil {
			return err
		}
	}
}

// enter takes one plain name. only says that nothing but slashes follow it,
// more that there is at least one slash.
func (w *walker) enter(name string, only, more, follow bool) (done bool, err error) {
	top := w.stack[len(w.stack)-1]
	fd, err := openat(top.fd, name, oPath|oNoFollow, 0)
	if err == syscall.ENOENT {
		return true, w.absent(name, more)
	}
	if err != nil {
		return true, err
	}
	keep := false
	defer func() {
		if !keep {
			closeHandle(fd)
		}
	}()
	next := step{fd: fd, name: name, owned: true}
	if next.id, err = identify(fd); err != nil {
		return true, err
	}
	if !sameMount(next.id, top.id) {
		mode, ok := w.r.admitted(w.placeOf(name), next.id)
		if !ok {
			return true, w.leaves(RuleMountPoint, "a file system is mounted here that was not there, or not admitted, when the sandbox was set up")
		}
		next.id.Mode = mode
	}
	switch next.id.Mode & syscall.S_IFMT {
	case syscall.S_IFLNK:
		if only && !more && !follow {
			return true, w.arrive([]string{name}, next.id.Mode)
		}
		return false, w.follow(fd, name, more)
	case syscall.S_IFDIR:
		if only && !more {
			return true, w.arrive([]string{name}, next.id.Mode)
		}
		keep = true
		w.stack = append(w.stack, next)
		return false, nil
	default:
		if more {
			return true, syscall.ENOTDIR
		}
		return true, w.arrive([]string{name}, next.id.Mode)
	}
}

// follow puts a link's text in front of what remains.
func (w *walker) follow(fd handle, name string, more bool) error {
	if w.links++; w.links > maxLinks {
		return syscall.ELOOP
	}
	text, err := readlinkOf(fd)
	if err != nil {
		return err
	}
	w.link, w.target = w.placeOf(name), text
	if proc, err := onProcfs(fd); err != nil {
		return err
	} else if proc {
		return w.leaves(RuleMagicLink, "a link on procfs can lead anywhere")
	}
	if text == "" {
		return syscall.ENOENT
	}
	if text[0] == '/' || filepath.IsAbs(text) {
		rel, ok := w.r.beneathRoot(text)
		if !ok {
			return w.leaves(RuleSymlinkEscape, "a symbolic link leads out of the sandbox root")
		}
		w.pop(1)
		text = rel
	}
	if text = filepath.ToSlash(text); filepath.VolumeName(text) != "" {
		return w.leaves(RuleSymlinkEscape, "a symbolic link leads to another volume")
	}
	if more {
		text += "/" + w.rest
	}
	if len(text) > maxText {
		return syscall.ENAMETOOLONG
	}
	w.rest = text
	return nil
}

// absent ends the walk at a name that is not there. What follows it must be
// plain names: "nope/../x" is not cleaned away.
func (w *walker) absent(name string, more bool) error {
	names := []string{name}
	for c := range strings.SplitSeq(w.rest, "/") {
		switch c {
		case "", ".":
		case "..":
			return syscall.ENOENT
		default:
			names = append(names, c)
		}
	}
	w.missing = len(names)
	w.slash = more
	w.place = w.placeOf(names...)
	return nil
}

// arrive ends the walk at something that is there.
func (w *walker) arrive(names []string, mode uint32) error {
	w.place, w.mode = w.placeOf(names...), mode
	return nil
}

// placeOf is the place of names beneath the directory that the walk is in.
func (w *walker) placeOf(names ...string) string {
	all := make([]string, 0, len(w.stack)+len(names))
	for _, s := range w.stack[1:] {
		all = append(all, s.name)
	}
	if all = append(all, names...); len(all) == 0 {
		return "."
	}
	return strings.Join(all, "/")
}

// leaves blames the link that was followed last, if any: its text is what
// took the walk there.
func (w *walker) leaves(rule access.Code, reason string) error {
	if rule == RuleOutsideRoot && w.link != "" {
		rule, reason = RuleSymlinkEscape, "a symbolic link leads out of the sandbox root"
	}
	return &errLeaves{rule: rule, reason: reason, link: w.link, target: w.target}
}

// locate walks, and turns a walk that leaves into a refusal in the caller's
// own words.
func (r *Resolver) locate(op access.Op, unsafePath, rel string, follow bool) (walked, error) {
	w, err := r.walk(rel, follow)
	if r.bound && w.links > 0 {
		return w, r.refuse(op, unsafePath, RuleUnstable, "a link has come to stand there since the path was resolved")
	}
	var out *errLeaves
	if errors.As(err, &out) {
		reason := out.reason
		if out.link != "" {
			// The text of the link may name a place of the host: it is for
			// Explain, which the operator asks, not for this message.
			reason += " (the link is " + EscapePath(out.link) + ")"
		}
		return w, r.refuse(op, unsafePath, out.rule, reason)
	}
	return w, err
}
