//go:build !linux || portable

package pathresolver

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// replacing is what a Replacement holds over os.Root: names beneath it.
type replacing struct {
	out     *os.File // the new content; nil before prepare
	temp    string   // its name, if it has one
	missing []string // places of directories still to be made, outermost first
	made    []string // those that were made, for os.Root
	closed  bool
}

func (r *Resolver) startReplace(unsafePath string, o ReplaceOptions) (*Replacement, error) {
	var err error
	for range maxAttempts {
		w := &Replacement{r: r, unsafePath: unsafePath, opts: o}
		if err = w.start(); err == nil {
			return w, nil
		}
		_ = w.Close()
		var d *DeniedError
		if !errors.As(err, &d) || d.Rule != RuleUnstable {
			break
		}
	}
	return nil, pathError("write", unsafePath, err)
}

func (w *Replacement) start() error {
	r := w.r
	at, err := r.locate(OpWrite, w.unsafePath, true)
	if err != nil {
		return err
	}
	if d := r.Decide(OpWrite, at.place, 0); d != nil {
		return d.asGiven(w.unsafePath)
	}
	w.place = at.place
	if at.missing > 0 {
		switch last := w.unsafePath[len(w.unsafePath)-1]; {
		case os.IsPathSeparator(last):
			return syscall.EISDIR
		case at.missing > 1 && !w.opts.Parents, w.opts.MustExist:
			return fs.ErrNotExist
		}
		names := strings.Split(at.place, "/")
		for n := len(names) - at.missing + 1; n < len(names); n++ {
			dir := strings.Join(names[:n], "/")
			if d := r.Decide(OpCreate, dir, fs.ModeDir); d != nil {
				return d.asGiven(w.unsafePath)
			}
			w.missing = append(w.missing, dir)
		}
		return nil
	}
	if at.mode.IsDir() {
		return syscall.EISDIR
	}
	if err := r.refuseKind(OpWrite, w.unsafePath, at.mode); err != nil {
		return err
	}
	if w.opts.MustBeNew {
		return fs.ErrExist
	}
	// Opening for writing asks the system whether the file may be written,
	// although it is replaced.
	f, err := r.dir.OpenFile(w.name(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	w.old = &File{f, w.place}
	if err := r.same(OpWrite, w.unsafePath, w.name(), f); err != nil {
		return err
	}
	id, err := r.count(w.name())
	if err != nil || id.Links <= 1 {
		w.inPlace = r.isWritePath(w.place)
		return err
	}
	breakIt, denied := r.CheckLinks(w.place, id)
	if denied != nil {
		return denied.asGiven(w.unsafePath)
	}
	w.inPlace = !breakIt || r.isWritePath(w.place)
	return nil
}

// name is the place for os.Root.
func (w *Replacement) name() string { return filepath.FromSlash(w.place) }

func (w *Replacement) prepare() error {
	if w.out != nil {
		return nil
	}
	if w.closed || w.committed {
		return os.ErrClosed
	}
	for len(w.missing) > 0 {
		dir := filepath.FromSlash(w.missing[0])
		switch err := w.r.dir.Mkdir(dir, 0o777); {
		case err == nil:
			w.made = append(w.made, dir)
		case !errors.Is(err, fs.ErrExist): // somebody else's is as good
			return err
		}
		w.missing = w.missing[1:]
	}
	mode := w.opts.Perm
	if w.old != nil {
		mode = 0o600
	}
	flags := os.O_RDWR | os.O_CREATE | os.O_EXCL
	var err error
	switch parent, _ := splitPlace(w.place); {
	case w.inPlace, w.old == nil && w.r.isWritePath(w.place):
		w.inPlace = true
		w.out, err = anonymous()
	default:
		w.temp = filepath.FromSlash(joinPlace(parent, ".pinfold-"+rand.Text()))
		if w.out, err = w.r.dir.OpenFile(w.temp, flags, mode); err != nil {
			w.temp = ""
		}
	}
	return err
}

// anonymous is a file for content that is kept for a while. Where an open file
// cannot lose its name it stays in the temporary directory.
func anonymous() (*os.File, error) {
	f, err := os.CreateTemp("", "pinfold-")
	if err == nil {
		_ = os.Remove(f.Name())
	}
	return f, err
}

func (w *Replacement) commit(ctx context.Context, still func(now *File) error) error {
	unlock, err := lockParent(ctx, w.r.dir, w.place)
	if err != nil {
		return err
	}
	defer unlock()
	if d := w.r.decideGitDir(OpWrite, w.place, 0); d != nil { // its directory may have become a repository
		return d.asGiven(w.unsafePath)
	}
	now, err := w.look()
	if now != nil {
		defer now.Close()
	}
	if err == nil {
		err = still(now)
	}
	if err == nil && w.opts.Sync {
		err = w.out.Sync()
	}
	if err == nil {
		err = ctx.Err()
	}
	switch {
	case err != nil:
	case w.inPlace:
		err = w.overwrite(now)
	default:
		err = w.publish(now)
	}
	w.committed = err == nil
	return err
}

// look opens the file that is there now.
func (w *Replacement) look() (*File, error) {
	info, err := w.r.dir.Lstat(w.name())
	switch {
	case errors.Is(err, fs.ErrNotExist) && !w.opts.MustExist:
		return nil, nil
	case err != nil:
		return nil, err
	case w.opts.MustBeNew:
		return nil, fs.ErrExist
	case !info.Mode().IsRegular():
		return nil, w.r.refuse(OpWrite, w.unsafePath, RuleUnstable, "the path changed while it was resolved")
	}
	now, err := w.r.dir.OpenFile(w.name(), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return &File{now, w.place}, w.r.same(OpWrite, w.unsafePath, w.name(), now)
}

// publish gives the content its name. Windows moves no file that is open.
func (w *Replacement) publish(now *File) error {
	like := now
	if like == nil {
		like = w.opts.Like
	}
	if like != nil {
		err := likeAttributes(like.File, w.out)
		if errors.Is(err, fs.ErrPermission) && like == now {
			if err = w.overwrite(now); err == nil { // it stays somebody else's
				err = w.r.dir.Remove(w.temp)
			}
			return err
		}
		if err != nil {
			return err
		}
	}
	if now != nil {
		_ = now.Close()
	}
	if w.old != nil {
		_ = w.old.Close()
	}
	if err := w.out.Close(); err != nil {
		return err
	}
	if now != nil {
		w.r.forgetLinks()
		return w.r.dir.Rename(w.temp, w.name())
	}
	// A link does not take the place of a file that appears meanwhile.
	if err := w.r.dir.Link(w.temp, w.name()); err != nil {
		return err
	}
	return w.r.dir.Remove(w.temp)
}

// overwrite writes the content into the file, and puts the old back when that
// fails.
func (w *Replacement) overwrite(now *File) error {
	if now == nil {
		made, err := w.r.dir.OpenFile(w.name(), os.O_RDWR|os.O_CREATE|os.O_EXCL, w.opts.Perm)
		if err != nil {
			return err
		}
		if err = errors.Join(rewrite(made, w.out), made.Close()); err != nil {
			_ = w.r.dir.Remove(w.name())
		}
		return err
	}
	keep, err := anonymous()
	if err != nil {
		return err
	}
	defer keep.Close()
	if err := rewrite(keep, now.File); err != nil {
		return err
	}
	if err = rewrite(now.File, w.out); err != nil {
		_ = rewrite(now.File, keep)
	}
	return err
}

// rewrite makes the content of to that of from.
func rewrite(to, from *os.File) error {
	for _, f := range []*os.File{to, from} {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	n, err := io.Copy(to, from)
	if err == nil {
		err = to.Truncate(n)
	}
	return err
}

func (w *Replacement) write(p []byte) (int, error) { return w.out.Write(p) }

// copyFrom makes the rest of src the content.
func (w *Replacement) copyFrom(ctx context.Context, src *File) (int64, error) {
	const chunk = 1 << 20
	total := int64(0)
	for {
		if err := ctx.Err(); err != nil {
			return total, err
		}
		n, err := io.CopyN(w.out, src, chunk)
		total += n
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// Close releases everything. Without Commit it leaves everything as it was.
func (w *Replacement) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	if w.out != nil {
		_ = w.out.Close()
	}
	if w.old != nil {
		_ = w.old.Close()
	}
	if w.committed {
		return nil
	}
	if w.temp != "" {
		_ = w.r.dir.Remove(w.temp)
	}
	for _, dir := range slices.Backward(w.made) {
		_ = w.r.dir.Remove(dir)
	}
	return nil
}
