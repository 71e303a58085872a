package pathresolver

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/pinfold-dev/pinfold/access"
)

// tempPrefix begins the name of every file that is on its way.
const tempPrefix = ".pinfold-"

// ReplaceOptions are how Replace treats what is there, and what is not. The
// zero value makes or replaces a file in a directory that exists.
type ReplaceOptions struct {
	MustExist bool        // a missing file is fs.ErrNotExist
	MustBeNew bool        // an existing one is fs.ErrExist, also when it appears before Commit
	Parents   bool        // missing directories are made, all decided about before the first
	Perm      fs.FileMode // of a new file, less the umask; 0 is 0666
	Like      *File       // whose mode, owner and extended attributes a new file gets instead
	Sync      bool        // Commit returns when content and name are on the disk
}

// Replacement is new content on its way to a place: write it, then Commit, and
// Close in any case. The place is decided and its directory held. Nobody sees
// the content before Commit; without Commit everything stays as it was. A
// Replacement is not safe for use by several goroutines.
//
// The content is written to a file that has no name yet (O_TMPFILE), so that a
// process that is killed leaves nothing behind. Only for the instant between
// linkat and rename, in Commit, is it called ".pinfold-new"; a later Commit
// that replaces a file in that directory, or is called off, removes one that
// was left. File systems without O_TMPFILE get a file of a random name that
// begins with ".pinfold-", which stays behind when the process is killed.
//
// It is written in place instead, with the old content put back on failure,
// where another file beside it cannot or must not take its stead: a write path
// that is a single file, a file whose several hard links the policy allows to
// change, one whose owner or attributes the system does not let us carry over,
// a directory that takes no new file.
type Replacement struct {
	r          *Resolver
	unsafePath string
	place      string
	opts       ReplaceOptions
	old        *File // as it was at Replace; nil when there was none
	inPlace    bool
	committed  bool
	anew       bool // in place, where there was none
	gone       bool // letGo has closed the new content
	replacing       // what the platform holds, the new content above all
}

// Replace decides about writing the regular file that the path leads to, links
// followed, or making one there. Devices, FIFOs and sockets are refused,
// directories are EISDIR. The caller must Close what it gets.
func (r *Resolver) Replace(unsafePath string, o ReplaceOptions) (*Replacement, error) {
	if o.Perm == 0 {
		o.Perm = 0o666
	}
	rel, err := r.relative(access.OpWrite, unsafePath)
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
	return nil, r.refuse(access.OpWrite, unsafePath, RuleUnstable, "the path kept changing while it was resolved")
}

// Place is where the content goes.
func (w *Replacement) Place() string { return w.place }

// Old is the file as it is, open for reading; nil when there is none. It
// belongs to the Replacement, which closes it.
func (w *Replacement) Old() *File { return w.old }

// Write appends to the new content.
func (w *Replacement) Write(p []byte) (int, error) {
	if err := w.prepare(); err != nil {
		return 0, pathError("write", w.unsafePath, err)
	}
	n, err := w.write(p)
	return n, pathError("write", w.unsafePath, err)
}

// CopyFrom appends the rest of src, from its current offset.
// Holes stay holes, and blocks are shared, where the file systems can do it.
// It ends soon after ctx.
func (w *Replacement) CopyFrom(ctx context.Context, src *File) (int64, error) {
	if err := w.prepare(); err != nil {
		return 0, pathError("write", w.unsafePath, err)
	}
	n, err := copyContent(ctx, w.out, w.size, src.fd)
	w.size += n
	return n, pathError("write", w.unsafePath, err)
}

// Commit puts the content in place. Mode, owner, extended attributes and ACLs
// of an existing file are carried over; set-user-id bits and file capabilities
// are dropped, as write(2) drops them. still, unless it is nil, is called with
// the file that is there at that moment, nil when there is none, under a lock
// that every Replacement in that directory respects, also those of other
// processes (flock on the directory; only of this process where the file
// system has no such lock, and on Windows): an error of it ends the commit.
// still must read by ReadAt and not keep the file. After an error, ctx's
// included, nothing has changed.
func (w *Replacement) Commit(ctx context.Context, still func(now *File) error) error {
	if still == nil {
		still = func(*File) error { return nil }
	}
	err := w.prepare()
	if err == nil {
		err = w.commit(ctx, still)
	}
	return pathError("write", w.unsafePath, err)
}

// WriteFile makes a file with this content, or replaces the content of one
// that is there, which keeps its mode, owner and extended attributes. The new
// content stands complete or not at all: it is written beside the file and
// moved into place. Where that cannot be (a write path that is a single file,
// a file with several links under HardLinksAllow) it is written in place.
func (r *Resolver) WriteFile(unsafePath string, data []byte, perm fs.FileMode) error {
	w, err := r.Replace(unsafePath, ReplaceOptions{Perm: perm})
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.Commit(context.Background(), nil)
}

// replacing is what a Replacement holds.
type replacing struct {
	out     handle   // the new content; none before prepare
	size    int64    // of it
	dir     handle   // the directory of the name, or the nearest that exists; none when closed
	parent  string   // its place
	missing []string // directories still to be made beneath it
	made    []string // places of those that were made
	name    string   // of the file
	temp    string   // the name of out, if it has one
	locked  bool     // the lock of the directory is held
}

// replaceOnce tries the place that the path spells, and walks when links or
// missing directories stand in the way.
func (r *Resolver) replaceOnce(unsafePath, rel string, o ReplaceOptions) (*Replacement, error) {
	place, lexical := lexicalPlace(rel)
	if lexical && place != "." && withSlash(place, rel) == place && r.allows(access.OpWrite, place) {
		w, err := r.holdFor(unsafePath, place, nil, o)
		switch err {
		case syscall.ELOOP, syscall.EXDEV, syscall.ENOENT:
		default:
			return w, err
		}
	}
	at, err := r.locate(access.OpWrite, unsafePath, rel, true)
	if err != nil {
		return nil, err
	}
	if d := r.denies(access.OpWrite, at.place, 0); d != nil {
		return nil, d.asGiven(unsafePath)
	}
	switch {
	case at.missing == 0 && at.mode&syscall.S_IFMT == syscall.S_IFDIR:
		return nil, syscall.EISDIR
	case at.missing > 0 && (at.slash && at.missing == 1 || strings.HasSuffix(rel, "/")):
		return nil, syscall.EISDIR
	case at.missing > 1 && !o.Parents, at.missing > 0 && o.MustExist:
		return nil, syscall.ENOENT
	}
	var missing []string
	if at.missing > 1 {
		names := strings.Split(at.place, "/")
		have := len(names) - at.missing
		for n := have + 1; n < len(names); n++ {
			if d := r.denies(access.OpCreate, strings.Join(names[:n], "/"), fs.ModeDir); d != nil {
				return nil, d.asGiven(unsafePath)
			}
		}
		missing = names[have : len(names)-1]
	}
	w, err := r.holdFor(unsafePath, at.place, missing, o)
	switch err {
	case syscall.ELOOP, syscall.EXDEV, syscall.ENOTDIR:
		return nil, errAgain
	case syscall.ENOENT:
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
		return nil, syscall.ENAMETOOLONG
	}
	w := &Replacement{r: r, unsafePath: unsafePath, place: place, opts: o}
	w.replacing = replacing{out: noHandle, dir: noHandle, parent: parent, name: name, missing: missing}
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
	case syscall.ENOENT:
		if o.MustExist {
			return nil, err
		}
		return w, nil
	case syscall.ENXIO: // a socket, or a FIFO that nobody reads
		return nil, refuseSpecial(r, access.OpWrite, unsafePath, syscall.S_IFIFO)
	default:
		return nil, err
	}
	w.old = &File{fd: fd, place: place}
	if err = fstat(fd, &w.old.st); err == nil {
		err = w.admitOld()
	}
	return w, err
}

// openLockable opens a directory so that it can be locked and synced, or
// O_PATH where it may not be read.
func (r *Resolver) openLockable(place string) (handle, error) {
	fd, err := r.openPlace(place, os.O_RDONLY|oDirectory, 0)
	if err == syscall.EACCES {
		fd, err = r.openPlace(place, oPath|oDirectory, 0)
	}
	return fd, err
}

// openOld opens the file for writing, which asks the system whether it may be
// written, although it is replaced.
func (w *Replacement) openOld() (handle, error) {
	const flags = os.O_RDWR | oNoFollow | always
	fd, err := w.r.openIn(w.dir, w.name, flags)
	switch err {
	case syscall.ETXTBSY: // a program that runs: it can be replaced, not written
		fd, err = w.r.openIn(w.dir, w.name, flags&^oAccMode|os.O_RDONLY)
	case syscall.EACCES: // one that may be written but not read
		fd, err = w.r.openIn(w.dir, w.name, flags&^oAccMode|os.O_WRONLY)
	case syscall.EXDEV: // a file that is a mount point cannot be replaced
		fd, err = w.r.openPlace(w.place, flags, 0)
		w.inPlace = err == nil
	}
	return fd, err
}

// admitOld looks at the file that is there.
func (w *Replacement) admitOld() error {
	switch w.old.st.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
	case syscall.S_IFDIR:
		return syscall.EISDIR
	default:
		return refuseSpecial(w.r, access.OpWrite, w.unsafePath, w.old.st.Mode)
	}
	if w.opts.MustBeNew {
		return syscall.EEXIST
	}
	w.inPlace = w.inPlace || w.r.isWritePath(w.place)
	if w.old.st.Nlink <= 1 {
		return nil
	}
	id, err := fileID(w.old.fd)
	if err != nil {
		return err
	}
	breakIt, denied := w.r.checkLinks(w.place, id)
	if denied != nil {
		return denied.asGiven(w.unsafePath)
	}
	w.inPlace = w.inPlace || !breakIt // replacing the name breaks the link
	return nil
}

// prepare makes the file for the new content, and the directories for it.
func (w *Replacement) prepare() error {
	if w.out != noHandle {
		return nil
	}
	if w.dir == noHandle || w.committed || w.gone {
		return os.ErrClosed
	}
	if err := w.makeParents(); err != nil {
		return err
	}
	var err error
	if !w.inPlace {
		err = w.openTemp()
		switch err {
		case syscall.EACCES, syscall.EPERM, syscall.EROFS:
			if w.old == nil {
				return err
			}
			w.inPlace = true // the directory takes no new file
		case errNothingBeside:
			w.inPlace = true
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
		n, err = pwrite(w.out, p[done:], w.size)
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
		err := mkdirat(w.dir, name, 0o777)
		if err != nil && err != syscall.EEXIST {
			return err
		}
		next, openErr := w.r.openIn(w.dir, name, os.O_RDONLY|oDirectory|oNoFollow)
		if openErr != nil {
			if err == nil {
				_ = unlink(w.dir, name, asDir)
			}
			return openErr
		}
		closeHandle(w.dir)
		w.dir, w.parent, w.missing = next, joinPlace(w.parent, name), w.missing[1:]
		if err == nil {
			w.made = append(w.made, w.parent)
		}
	}
	return nil
}

// Close releases everything. Without Commit it leaves everything as it was.
func (w *Replacement) Close() error {
	if w.dir == noHandle {
		return nil
	}
	if w.temp != "" && (!w.committed || w.inPlace) {
		_ = unlink(w.dir, w.temp, 0)
	}
	if w.out != noHandle {
		closeHandle(w.out)
	}
	if w.old != nil {
		_ = w.old.Close()
	}
	err := closeFile(w.dir)
	w.dir = noHandle
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
		dir, err := w.r.openPlace(up, oPath|oDirectory, 0)
		if err != nil {
			return
		}
		err = unlink(dir, name, asDir)
		closeHandle(dir)
		if err != nil {
			return
		}
	}
	w.made = nil
}
