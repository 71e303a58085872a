package pathresolver

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/fsat"
)

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

// Stat describes what the path leads to, following a last link inside the
// root.
func (r *Resolver) Stat(unsafePath string) (fs.FileInfo, error) {
	return r.stat("stat", unsafePath, true)
}

// Lstat is Stat, but describes a last link itself.
func (r *Resolver) Lstat(unsafePath string) (fs.FileInfo, error) {
	return r.stat("lstat", unsafePath, false)
}

func (r *Resolver) open(unsafePath string, flag int, perm fs.FileMode) (*os.File, error) {
	var st stat
	fd, err := r.openRaw(unsafePath, flag, perm, &st)
	if err != nil {
		return nil, pathError("open", unsafePath, err)
	}
	return newFile(fd, unsafePath, &st), nil
}

// openRaw is openFD for callers that get the descriptor itself. Through that of a
// directory every name can be listed, hidden or not.
func (r *Resolver) openRaw(unsafePath string, flag int, perm fs.FileMode, st *stat) (handle, error) {
	fd, place, err := r.openFD(unsafePath, flag, perm, st)
	if err == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR && r.hidesAny() {
		if err = r.refuseListing(unsafePath, place); err != nil {
			closeHandle(fd)
		}
	}
	return fd, err
}

func (r *Resolver) stat(verb, unsafePath string, follow bool) (fs.FileInfo, error) {
	info := &fileInfo{name: path.Base(filepath.ToSlash(unsafePath))}
	if r.quickStat(unsafePath, follow, info.stat()) {
		return info, nil
	}
	err := r.look(access.OpRead, unsafePath, follow, func(_ handle, _ string, st *stat) error {
		*info.stat() = *st
		return nil
	})
	if err != nil {
		return nil, pathError(verb, unsafePath, err)
	}
	return info, nil
}

// quickStat tries the one way that needs no rule and no walk. Where it does
// not succeed, look says why.
func (r *Resolver) quickStat(unsafePath string, follow bool, st *stat) bool {
	rel, err := r.relative(access.OpRead, unsafePath)
	if err != nil || !r.plain {
		return false
	}
	flags := oPath
	if !follow {
		flags |= oNoFollow
	}
	fd, err := r.openFollowed(rel, flags)
	if err != nil {
		return false
	}
	err = fstat(fd, st)
	closePath(fd)
	return err == nil
}

// ReadDir lists a directory, sorted by name, without hidden names. Info of an
// entry asks the resolver again.
//
// readDir filters by the rules about the place that was opened: asked for
// again, the path could lead elsewhere.
func (r *Resolver) ReadDir(unsafePath string) ([]fs.DirEntry, error) {
	var st stat
	fd, place, err := r.openFD(unsafePath, os.O_RDONLY|oDirectory, 0, &st)
	if err != nil {
		return nil, pathError("readdir", unsafePath, err)
	}
	f := newFile(fd, unsafePath, &st)
	defer f.Close()
	list, err := f.ReadDir(-1)
	if err != nil {
		return nil, pathError("readdir", unsafePath, err)
	}
	hides := r.hidesAny()
	entries := make([]fs.DirEntry, 0, len(list))
	for _, e := range list {
		if hides && r.verdictIn(place, e.Name()).HidesEntry(e.Type()) {
			continue
		}
		entries = append(entries, &dirEntry{r: r, path: strings.TrimRight(unsafePath, "/") + "/" + e.Name(), name: e.Name(), typ: e.Type()})
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// Readlink returns the text of a link. The text may name a place outside;
// following it will not go there.
func (r *Resolver) Readlink(unsafePath string) (string, error) {
	var text string
	err := r.look(access.OpRead, unsafePath, false, func(fd handle, _ string, st *stat) (err error) {
		if st.Mode&syscall.S_IFMT != syscall.S_IFLNK {
			return syscall.EINVAL
		}
		text, err = readlinkOf(fd)
		return err
	})
	return text, pathError("readlink", unsafePath, err)
}

// dirEntry is one line of a listing.
type dirEntry struct {
	r    *Resolver
	path string // unsafe, like the path that was listed
	name string
	typ  fs.FileMode
}

func (e *dirEntry) Name() string               { return e.name }
func (e *dirEntry) IsDir() bool                { return e.typ.IsDir() }
func (e *dirEntry) Type() fs.FileMode          { return e.typ }
func (e *dirEntry) Info() (fs.FileInfo, error) { return e.r.Lstat(e.path) }
func (e *dirEntry) String() string             { return fs.FormatDirEntry(e) }

func (i *fileInfo) IsDir() bool       { return i.Mode().IsDir() }
func (i *fileInfo) Mode() fs.FileMode { return fsat.FileMode(i.stat().Mode) }
