//go:build !portable

package pathresolver

import (
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// replacing is what a Replacement holds on Linux.
type replacing struct {
	out     int      // the new content; -1 before prepare
	size    int64    // of it
	dir     int      // the directory of the name, or the nearest that exists; -1 when closed
	parent  string   // its place
	missing []string // directories still to be made beneath it
	made    []string // places of those that were made
	name    string   // of the file
	temp    string   // the name of out, if it has one
	locked  bool     // the lock of the directory is held
}

func (r *Resolver) startReplace(unsafePath string, o ReplaceOptions) (*Replacement, error) {
	rel, err := r.relative(OpWrite, unsafePath)
	if err != nil {
		return nil, err
	}
	for range maxAttempts {
		w, err := r.replaceOnce(unsafePath, rel, o)
		if err == nil {
			return w, nil
		}
		if err != errAgain {
			return nil, pathError("write", unsafePath, err)
		}
	}
	return nil, r.refuse(OpWrite, unsafePath, RuleUnstable, "the path kept changing while it was resolved")
}

// replaceOnce tries the place that the path spells, and walks when links or
// missing directories stand in the way.
func (r *Resolver) replaceOnce(unsafePath, rel string, o ReplaceOptions) (*Replacement, error) {
	place, lexical := lexicalPlace(rel)
	if lexical && place != "." && withSlash(place, rel) == place && r.allows(OpWrite, place) {
		w, err := r.holdFor(unsafePath, place, nil, o)
		switch err {
		case unix.ELOOP, unix.EXDEV, unix.ENOENT:
		default:
			return w, err
		}
	}
	at, err := r.locate(OpWrite, unsafePath, rel, true)
	if err != nil {
		return nil, err
	}
	if d := r.Decide(OpWrite, at.place, 0); d != nil {
		return nil, d.asGiven(unsafePath)
	}
	switch {
	case at.missing == 0 && at.mode&unix.S_IFMT == unix.S_IFDIR:
		return nil, unix.EISDIR
	case at.missing > 0 && (at.slash && at.missing == 1 || strings.HasSuffix(rel, "/")):
		return nil, unix.EISDIR
	case at.missing > 1 && !o.Parents, at.missing > 0 && o.MustExist:
		return nil, unix.ENOENT
	}
	var missing []string
	if at.missing > 1 {
		names := strings.Split(at.place, "/")
		have := len(names) - at.missing
		for n := have + 1; n < len(names); n++ {
			if d := r.Decide(OpCreate, strings.Join(names[:n], "/"), fs.ModeDir); d != nil {
				return nil, d.asGiven(unsafePath)
			}
		}
		missing = names[have : len(names)-1]
	}
	w, err := r.holdFor(unsafePath, at.place, missing, o)
	switch err {
	case unix.ELOOP, unix.EXDEV, unix.ENOTDIR:
		return nil, errAgain
	case unix.ENOENT:
		if !o.MustExist {
			return nil, errAgain
		}
	}
	return w, err
}

// holdFor opens the directory of a place that is decided, and the file there.
// The last missing names of its parent do not exist.
func (r *Resolver) holdFor(unsafePath, place string, missing []string, o ReplaceOptions) (_ *Replacement, err error) {
	parent, name := splitPlace(place)
	for range missing {
		parent, _ = splitPlace(parent)
	}
	if len(name) > maxName {
		return nil, unix.ENAMETOOLONG
	}
	w := &Replacement{r: r, unsafePath: unsafePath, place: place, opts: o}
	w.replacing = replacing{out: -1, dir: -1, parent: parent, name: name, missing: missing}
	if w.dir, err = r.openLockable(parent); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = w.Close()
		}
	}()
	if len(missing) > 0 {
		return w, nil
	}
	fd, err := w.openOld()
	switch err {
	case nil:
	case unix.ENOENT:
		if o.MustExist {
			return nil, err
		}
		return w, nil
	case unix.ENXIO: // a socket, or a FIFO that nobody reads
		return nil, refuseSpecial(r, OpWrite, unsafePath, unix.S_IFIFO)
	default:
		return nil, err
	}
	w.old = &File{fd: fd, place: place}
	if err = fsat.Fstat(fd, &w.old.st); err == nil {
		err = w.admitOld()
	}
	return w, err
}

// openLockable opens a directory so that it can be locked and synced, or
// O_PATH where it may not be read.
func (r *Resolver) openLockable(place string) (int, error) {
	fd, err := r.OpenPlace(place, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err == unix.EACCES {
		fd, err = r.OpenPlace(place, unix.O_PATH|unix.O_DIRECTORY, 0)
	}
	return fd, err
}

// openOld opens the file for writing, which asks the system whether it may be
// written, although it is replaced.
func (w *Replacement) openOld() (int, error) {
	const flags = unix.O_RDWR | unix.O_NOFOLLOW | always
	fd, err := w.r.openIn(w.dir, w.name, flags)
	switch err {
	case unix.ETXTBSY: // a program that runs: it can be replaced, not written
		fd, err = w.r.openIn(w.dir, w.name, flags&^unix.O_ACCMODE|unix.O_RDONLY)
	case unix.EACCES: // one that may be written but not read
		fd, err = w.r.openIn(w.dir, w.name, flags&^unix.O_ACCMODE|unix.O_WRONLY)
	case unix.EXDEV: // a file that is a mount point cannot be replaced
		fd, err = w.r.OpenPlace(w.place, flags, 0)
		w.inPlace = err == nil
	}
	return fd, err
}

// openIn opens a name in a held directory as OpenPlace would: no link is
// followed, no mount is crossed.
func (r *Resolver) openIn(dir int, name string, flags int) (int, error) {
	if r.openat2 {
		return fsat.Openat2(dir, name, flags, 0, beneath)
	}
	home, err := fsat.Identify(dir)
	if err != nil {
		return -1, err
	}
	return r.lastStep(dir, name, flags, 0, home)
}

// admitOld looks at the file that is there.
func (w *Replacement) admitOld() error {
	switch w.old.st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		return unix.EISDIR
	default:
		return refuseSpecial(w.r, OpWrite, w.unsafePath, w.old.st.Mode)
	}
	if w.opts.MustBeNew {
		return unix.EEXIST
	}
	w.inPlace = w.inPlace || w.r.isWritePath(w.place)
	if w.old.st.Nlink <= 1 {
		return nil
	}
	id, err := fileID(w.old.fd)
	if err != nil {
		return err
	}
	breakIt, denied := w.r.CheckLinks(w.place, id)
	if denied != nil {
		return denied.asGiven(w.unsafePath)
	}
	w.inPlace = w.inPlace || !breakIt // replacing the name breaks the link
	return nil
}

// prepare makes the file for the new content, and the directories for it.
func (w *Replacement) prepare() error {
	if w.out >= 0 {
		return nil
	}
	if w.dir < 0 || w.committed {
		return os.ErrClosed
	}
	if err := w.makeParents(); err != nil {
		return err
	}
	var err error
	if !w.inPlace {
		err = w.openTemp()
		switch err {
		case unix.EACCES, unix.EPERM, unix.EROFS:
			if w.old == nil {
				return err
			}
			w.inPlace = true // the directory takes no new file
		default:
			return err
		}
	}
	w.out, err = anonymous()
	return err
}

func (w *Replacement) write(p []byte) (done int, err error) {
	for done < len(p) && err == nil {
		var n int
		n, err = fsat.Pwrite(w.out, p[done:], w.size, false)
		done, w.size = done+n, w.size+int64(n)
	}
	return done, err
}

// makeParents makes the missing directories, each beneath the one before. One
// that somebody else has made meanwhile is as good: it stands at a place that
// was decided about.
func (w *Replacement) makeParents() error {
	for len(w.missing) > 0 {
		name := w.missing[0]
		err := fsat.Retry(func() error { return unix.Mkdirat(w.dir, name, 0o777) })
		if err != nil && err != unix.EEXIST {
			return err
		}
		next, openErr := w.r.openIn(w.dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW)
		if openErr != nil {
			if err == nil {
				_ = unlink(w.dir, name, unix.AT_REMOVEDIR)
			}
			return openErr
		}
		_ = unix.Close(w.dir)
		w.dir, w.parent, w.missing = next, joinPlace(w.parent, name), w.missing[1:]
		if err == nil {
			w.made = append(w.made, w.parent)
		}
	}
	return nil
}

// Close releases everything. Without Commit it leaves everything as it was.
func (w *Replacement) Close() error {
	if w.dir < 0 {
		return nil
	}
	if w.temp != "" && (!w.committed || w.inPlace) {
		_ = unlink(w.dir, w.temp, 0)
	}
	if w.out >= 0 {
		_ = unix.Close(w.out)
	}
	if w.old != nil {
		_ = w.old.Close()
	}
	err := unix.Close(w.dir)
	w.dir = -1
	if !w.committed {
		w.removeParents()
	}
	return err
}

// removeParents removes the directories that were made, if they are still
// empty.
func (w *Replacement) removeParents() {
	for _, place := range slices.Backward(w.made) {
		up, name := splitPlace(place)
		dir, err := w.r.OpenPlace(up, unix.O_PATH|unix.O_DIRECTORY, 0)
		if err != nil {
			return
		}
		err = unlink(dir, name, unix.AT_REMOVEDIR)
		_ = unix.Close(dir)
		if err != nil {
			return
		}
	}
	w.made = nil
}
