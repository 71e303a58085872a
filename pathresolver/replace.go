package pathresolver

import (
	"context"
	"io/fs"
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
	replacing  // what the platform holds, the new content above all
}

// Replace decides about writing the regular file that the path leads to, links
// followed, or making one there. Devices, FIFOs and sockets are refused,
// directories are EISDIR. The caller must Close what it gets.
func (r *Resolver) Replace(unsafePath string, o ReplaceOptions) (*Replacement, error) {
	if o.Perm == 0 {
		o.Perm = 0o666
	}
	return r.startReplace(unsafePath, o)
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
	n, err := w.copyFrom(ctx, src)
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

func (r *Resolver) writeFile(unsafePath string, data []byte, perm fs.FileMode) error {
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
