//go:build !portable

package pathresolver

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// OpenFD is OpenFile without the *os.File: it returns a close-on-exec,
// non-blocking descriptor that the caller owns, and allocates nothing when
// the open succeeds on the first try.
func (r *Resolver) OpenFD(unsafePath string, flag int, perm fs.FileMode) (int, error) {
	var st unix.Stat_t
	fd, err := r.openRaw(unsafePath, flag, perm, &st)
	if err != nil {
		return -1, pathError("open", unsafePath, err)
	}
	return fd, nil
}

func (r *Resolver) open(unsafePath string, flag int, perm fs.FileMode) (*os.File, error) {
	var st unix.Stat_t
	fd, err := r.openRaw(unsafePath, flag, perm, &st)
	if err != nil {
		return nil, pathError("open", unsafePath, err)
	}
	return newFile(fd, unsafePath, &st), nil
}

// openRaw is openFD for who gets the descriptor: of a directory that lists all
// names, hidden or not.
func (r *Resolver) openRaw(unsafePath string, flag int, perm fs.FileMode, st *unix.Stat_t) (int, error) {
	fd, place, err := r.openFD(unsafePath, flag, perm, st)
	if err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && r.hidesAny() {
		if err = r.refuseListing(unsafePath, place); err != nil {
			_ = unix.Close(fd)
		}
	}
	return fd, err
}

func (r *Resolver) stat(verb, unsafePath string, follow bool) (fs.FileInfo, error) {
	info := &fileInfo{name: path.Base(unsafePath)}
	if r.quickStat(unsafePath, follow, (*unix.Stat_t)(unsafe.Pointer(&info.st))) {
		return info, nil
	}
	err := r.look(OpRead, unsafePath, follow, func(_ int, _ string, st *unix.Stat_t) error {
		info.st = *(*syscall.Stat_t)(unsafe.Pointer(st)) // the same struct under two names
		return nil
	})
	if err != nil {
		return nil, pathError(verb, unsafePath, err)
	}
	return info, nil
}

// quickStat tries the one way that needs no rule and no walk. Where it does
// not succeed, look says why.
func (r *Resolver) quickStat(unsafePath string, follow bool, st *unix.Stat_t) bool {
	rel, err := r.relative(OpRead, unsafePath)
	if err != nil || !r.openat2 || !r.plain {
		return false
	}
	flags := unix.O_PATH
	if !follow {
		flags |= unix.O_NOFOLLOW
	}
	fd, err := fsat.Openat2(r.rootFD, rel, flags, 0, following)
	if err != nil {
		return false
	}
	err = fsat.Fstat(fd, st)
	fsat.ClosePath(fd)
	return err == nil
}

// readDir filters by the rules about the place that was opened: asked for
// again, the path could lead elsewhere.
func (r *Resolver) readDir(unsafePath string) ([]fs.DirEntry, error) {
	var st unix.Stat_t
	fd, place, err := r.openFD(unsafePath, os.O_RDONLY|unix.O_DIRECTORY, 0, &st)
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
		if hides && r.VerdictIn(place, e.Name()).hidesEntry(e.Type()) {
			continue
		}
		entries = append(entries, &dirEntry{r: r, path: strings.TrimRight(unsafePath, "/") + "/" + e.Name(), name: e.Name(), typ: e.Type()})
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

func (r *Resolver) readlink(unsafePath string) (string, error) {
	var text string
	err := r.look(OpRead, unsafePath, false, func(fd int, _ string, st *unix.Stat_t) (err error) {
		if st.Mode&unix.S_IFMT != unix.S_IFLNK {
			return unix.EINVAL
		}
		text, err = fsat.Readlink(fd)
		return err
	})
	return text, pathError("readlink", unsafePath, err)
}

func (r *Resolver) statfs(unsafePath string) (FSStat, error) {
	var out FSStat
	err := r.look(OpRead, unsafePath, true, func(fd int, _ string, _ *unix.Stat_t) error {
		var st unix.Statfs_t
		if err := fsat.Retry(func() error { return unix.Fstatfs(fd, &st) }); err != nil {
			return err
		}
		unit := uint64(st.Frsize)
		out = FSStat{Total: st.Blocks * unit, Free: st.Bfree * unit, Available: st.Bavail * unit, Files: st.Files, FilesFree: st.Ffree}
		return nil
	})
	return out, pathError("statfs", unsafePath, err)
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

// fileInfo is what fstat said. Sys returns a *syscall.Stat_t.
type fileInfo struct {
	name string
	st   syscall.Stat_t
}

func (i *fileInfo) Name() string       { return i.name }
func (i *fileInfo) Size() int64        { return i.st.Size }
func (i *fileInfo) ModTime() time.Time { return time.Unix(i.st.Mtim.Unix()) }
func (i *fileInfo) IsDir() bool        { return i.Mode().IsDir() }
func (i *fileInfo) Sys() any           { return &i.st }
func (i *fileInfo) Mode() fs.FileMode  { return fsat.FileMode(i.st.Mode) }
