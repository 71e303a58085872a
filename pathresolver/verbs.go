package pathresolver

import (
	"io"
	"io/fs"
	"os"
	"time"
)

// RenameHow says what Rename does about a target that exists.
type RenameHow uint8

// How Rename treats its target.
const (
	RenameReplace   RenameHow = iota // an existing target is replaced, as by rename(2)
	RenameNoReplace                  // an existing target is fs.ErrExist
	RenameExchange                   // both must exist and change places
)

// FSStat describes the file system that holds a place. Sizes are in bytes;
// Files and FilesFree count inodes.
type FSStat struct {
	Total, Free, Available uint64
	Files, FilesFree       uint64
}

// The verbs. Each takes an unsafePath, and each returns a *DeniedError when a
// rule refuses, an *fs.PathError or *os.LinkError with the system's errno
// otherwise. A refused or failed verb leaves everything as it was, except
// where it says so.

// Open opens a file or directory for reading. The name of a directory's
// handle leads to its descriptor, not to a path. A directory that may hold
// hidden names is refused here: ReadDir lists it without them.
func (r *Resolver) Open(unsafePath string) (*os.File, error) {
	return r.open(unsafePath, os.O_RDONLY, 0)
}

// OpenFile is Open with the flags of os.OpenFile; perm, of which the umask is
// subtracted, counts where O_CREATE makes a file. O_TRUNC empties the file
// only after every check has passed. Other flags than those are EINVAL.
func (r *Resolver) OpenFile(unsafePath string, flag int, perm fs.FileMode) (*os.File, error) {
	return r.open(unsafePath, flag, perm)
}

// Create makes or empties a file and opens it for reading and writing.
func (r *Resolver) Create(unsafePath string) (*os.File, error) {
	return r.open(unsafePath, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// ReadFile returns the whole content of a file.
func (r *Resolver) ReadFile(unsafePath string) ([]byte, error) {
	f, err := r.open(unsafePath, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := 0
	if st, err := f.Stat(); err == nil && st.Size() < 1<<30 {
		size = int(st.Size())
	}
	data := make([]byte, 0, size+512)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return data, pathError("read", unsafePath, err)
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// WriteFile makes a file with this content, or replaces the content of one
// that is there, which keeps its mode, owner and extended attributes. The new
// content stands complete or not at all: it is written beside the file and
// moved into place. Where that cannot be (a write path that is a single file,
// a file with several links under HardLinksAllow) it is written in place.
func (r *Resolver) WriteFile(unsafePath string, data []byte, perm fs.FileMode) error {
	return r.writeFile(unsafePath, data, perm)
}

// Stat describes what the path leads to, following a last link inside the
// root.
func (r *Resolver) Stat(unsafePath string) (fs.FileInfo, error) {
	return r.stat("stat", unsafePath, true)
}

// Lstat is Stat, but describes a last link itself.
func (r *Resolver) Lstat(unsafePath string) (fs.FileInfo, error) {
	return r.stat("lstat", unsafePath, false)
}

// ReadDir lists a directory, sorted by name, without hidden names. Info of an
// entry asks the resolver again.
func (r *Resolver) ReadDir(unsafePath string) ([]fs.DirEntry, error) { return r.readDir(unsafePath) }

// Readlink returns the text of a link. The text may name a place outside;
// following it will not go there.
func (r *Resolver) Readlink(unsafePath string) (string, error) { return r.readlink(unsafePath) }

// Mkdir makes one directory.
func (r *Resolver) Mkdir(unsafePath string, perm fs.FileMode) error { return r.mkdir(unsafePath, perm) }

// MkdirAll makes a directory and those of its parents that are missing. It
// decides about all of them before it makes the first.
func (r *Resolver) MkdirAll(unsafePath string, perm fs.FileMode) error {
	return r.mkdirAll(unsafePath, perm)
}

// Rename moves a name: both must be writable, since the old one goes. What
// could hold something that a hide or protect glob tells apart does not move.
func (r *Resolver) Rename(unsafeOld, unsafeNew string, how RenameHow) error {
	return r.rename(unsafeOld, unsafeNew, how)
}

// Link gives a file a second name. Both must be writable. It does not follow
// a last link.
func (r *Resolver) Link(unsafeOld, unsafeNew string) error { return r.link(unsafeOld, unsafeNew) }

// Symlink makes a link with the given text, which is not examined: following
// it is what is decided about.
func (r *Resolver) Symlink(text, unsafeNew string) error { return r.symlink(text, unsafeNew) }

// Remove removes a file, a link or an empty directory.
func (r *Resolver) Remove(unsafePath string) error { return r.remove(unsafePath) }

// RemoveAll removes a path and all beneath it, never following a link. A
// missing path is no error. Where anything beneath is hidden or protected it
// is refused before the first removal; a failure later leaves what it had not
// come to.
func (r *Resolver) RemoveAll(unsafePath string) error { return r.removeAll(unsafePath) }

// Chmod changes the mode of what the path leads to.
func (r *Resolver) Chmod(unsafePath string, mode fs.FileMode) error {
	return r.chmod(unsafePath, mode)
}

// Chown changes owner and group of what the path leads to; -1 leaves one
// alone.
func (r *Resolver) Chown(unsafePath string, uid, gid int) error {
	return r.chown(unsafePath, uid, gid)
}

// Chtimes changes access and modification time; a zero Time leaves one alone.
func (r *Resolver) Chtimes(unsafePath string, atime, mtime time.Time) error {
	return r.chtimes(unsafePath, atime, mtime)
}

// Truncate sets a regular file's size in bytes.
func (r *Resolver) Truncate(unsafePath string, size int64) error {
	return r.truncate(unsafePath, size)
}

// Statfs describes the file system that holds what the path leads to.
func (r *Resolver) Statfs(unsafePath string) (FSStat, error) { return r.statfs(unsafePath) }
