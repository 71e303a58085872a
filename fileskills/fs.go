package fileskills

import (
	"context"
	"io"
	"io/fs"

	"github.com/pinfold-dev/pinfold/access"
)

// FS is how skills reach files: by handles. Every path it takes is unsafe, as
// a caller gave it; every refusal is a *pathresolver.DeniedError, every other
// failure matches the errors of io/fs where one fits. It must be safe for use
// by many goroutines. Resolved is the production implementation.
type FS interface {
	// Open opens a regular file or directory for reading, following links that
	// stay inside. It never blocks on what it opens.
	Open(unsafePath string) (File, error)
	// OpenDir opens a directory for walking.
	OpenDir(unsafePath string) (Dir, error)
	// Stat describes what the path leads to; Lstat a last link itself.
	Stat(unsafePath string) (fs.FileInfo, error)
	Lstat(unsafePath string) (fs.FileInfo, error)
	// Replace prepares new content for the regular file that the path leads
	// to, or for a new file. See Replacement.
	Replace(unsafePath string, o ReplaceOptions) (Replacement, error)
	// MkdirAll makes a directory and its missing parents, 0777 less umask, and
	// says whether it made any. It decides about all before it makes the first.
	MkdirAll(unsafePath string) (created bool, err error)
	// Rename moves a name and does not follow a last link. Without overwrite an
	// existing target is fs.ErrExist; with it, a file or an empty directory is
	// replaced by the move itself, never removed before.
	Rename(unsafeOld, unsafeNew string, overwrite bool) error
	// Remove removes a file, a link or an empty directory.
	Remove(unsafePath string) error
	// Resolve says which place a path leads to, and asks the rules whether the
	// action may be done there, without touching anything. The error is the
	// *pathresolver.DeniedError that the act would meet, or what kept it from
	// finding the place.
	Resolve(a access.Action, unsafePath string) (place string, err error)
	// WritePaths are the places that may be written, relative to the root.
	// None means that no write-capable skill can ever succeed.
	WritePaths() []string
}

// File is an open file.
type File interface {
	io.ReadSeekCloser
	io.ReaderAt
	Stat() (fs.FileInfo, error)
	// Place is where the file was found: relative to the root, no links.
	Place() string
}

// Dir is an open directory of a walk. What is hidden is not in it, and no call
// on it follows a link: a walk never leaves, and never goes in circles. A name
// may have several components, joined by "/": a place beneath the Dir, however
// deep. Its methods may be called by many goroutines, Close after all others.
type Dir interface {
	io.Closer
	ReadDir() ([]fs.DirEntry, error)  // all of it, in no order
	Open(name string) (File, error)   // a regular file
	OpenDir(name string) (Dir, error) // a directory
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	Place() string
}

// ReplaceOptions are how content is replaced. The zero value makes or
// replaces a file, in a directory that exists.
type ReplaceOptions struct {
	MustExist bool // a missing file is fs.ErrNotExist
	MustBeNew bool // an existing one is fs.ErrExist, also when it appears before Commit
	Parents   bool // missing directories are made, and removed again without Commit

	Perm fs.FileMode // of a new file, less the umask; 0 is 0666
	Like File        // whose mode, owner and extended attributes a new file gets instead
}

// Replacement is new content on its way to a place. The place is decided and
// its directory held. Nothing is seen by others before Commit; Close without
// Commit leaves everything as it was.
type Replacement interface {
	io.WriteCloser
	// Old is the file as it is, nil when there is none. The Replacement closes
	// it.
	Old() File
	// Place is where the content goes.
	Place() string
	// CopyFrom makes the rest of src the content. Holes stay holes where that
	// is possible. It ends soon after ctx does.
	CopyFrom(ctx context.Context, src File) (int64, error)
	// Commit puts the content in place, durably, with mode, owner, extended
	// attributes and ACLs of the old file. still, which may be nil, is asked,
	// under the lock that all writers of the place respect, with the file that
	// is there now (nil when none; read it by ReadAt): an error of it ends the
	// commit. After an error, ctx's included, nothing has changed.
	Commit(ctx context.Context, still func(now File) error) error
}
