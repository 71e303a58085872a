//go:build !linux || portable

package pathresolver

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// The backend where only os.Root is to be had. os.Root keeps every access
// beneath the root, whatever happens to the tree meanwhile. A directory is held
// as a Root of its own, so that a name is looked at and acted on in one and the
// same directory. What os.Root has no call for is done by the name of what was
// looked at, and compared before or after: there the rules within the root hold
// for a tree that nobody changes at that very moment.
//
// Errors are plain errno values, as on Linux.

// object is something that is held: a directory as a Root of its own, a file
// that is open, or the name of something that was only looked at (oPath).
type object struct {
	top   *os.Root    // the sandbox root
	place string      // where it was found
	in    *os.Root    // the directory in which it was found; nil for the root
	info  fs.FileInfo // what it was then
	root  *os.Root    // itself, if it is a directory
	file  *os.File    // itself, if it is open
}

type handle = *object

var noHandle handle

// name is what in has it by.
func (o *object) name() string {
	_, name := splitPlace(o.place)
	return name
}

// stat describes what a handle holds, with the mode in the words of Unix.
type stat struct {
	Mode  uint32
	Nlink uint64
	Dev   uint64
	Ino   uint64
	Size  int64
	info  fs.FileInfo
}

// identity is what the walker compares: here there are no mounts to tell apart.
type identity struct{ Mode uint32 }

// The flags of an open that package os does not have.
const (
	oPath      = 1 << 28
	oNoFollow  = 1 << 29
	oDirectory = 1 << 27
	oAccMode   = os.O_RDONLY | os.O_WRONLY | os.O_RDWR
	always     = 0
	openFlags  = oAccMode | os.O_APPEND | os.O_CREATE | os.O_EXCL | os.O_SYNC | os.O_TRUNC | oDirectory | oNoFollow
	oMakes     = os.O_CREATE
	asDir      = 1
)

// handles is what a Resolver holds open.
type handles struct {
	dir   handle
	dirID identity
}

func (r *Resolver) noRoot() {}
func (r *Resolver) settle() {}

func (r *Resolver) openRoot(path string, _ bool) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	info, err := root.Lstat(".")
	if err != nil {
		_ = root.Close()
		return err
	}
	r.dir, r.dirID = &object{top: root, place: ".", root: root, info: info}, identity{syscall.S_IFDIR}
	return nil
}

// Close releases the root. Handles that were given out stay valid.
func (r *Resolver) Close() error {
	if r.dir == noHandle {
		return os.ErrClosed
	}
	err := r.dir.root.Close()
	r.dir = noHandle
	return err
}

// Mode says how places are reached: "openat2", "walker", or "os.Root" on
// systems other than Linux.
func (r *Resolver) Mode() string { return "os.Root" }

// refusedMounts is for Linux, where mounts are told apart.
func (r *Resolver) refusedMounts() []string { return nil }

func (r *Resolver) admitted(string, identity) (mode uint32, ok bool) { return 0, false }

// openFollowed is for Linux, where the kernel may follow links.
func (r *Resolver) openFollowed(string, int) (handle, error) { return noHandle, syscall.ELOOP }

// openNamed is for Linux, too.
func (r *Resolver) openNamed(string, int) (handle, string, bool) { return noHandle, "", false }

// openPlace opens a place without following any link. It applies no rule: the
// caller has decided.
func (r *Resolver) openPlace(place string, flags int, mode uint32) (handle, error) {
	return r.stepTo(r.dir, r.dirID, place, flags, mode)
}

// openIn opens a name in a held directory as openPlace would.
func (r *Resolver) openIn(dir handle, name string, flags int) (handle, error) {
	return r.lastStep(dir, name, flags, 0, r.dirID)
}

// openBeneath opens name from a directory that is held.
func (r *Resolver) openBeneath(dir handle, id identity, name, _ string, flags int) (handle, error) {
	return r.stepTo(dir, id, name, flags, 0)
}

// errno makes of an error what Linux would have said.
func errno(err error) error {
	var no syscall.Errno
	switch {
	case err == nil:
		return nil
	case runtime.GOOS != "windows" && errors.As(err, &no):
		return no
	case errors.Is(err, fs.ErrNotExist):
		return syscall.ENOENT
	case errors.Is(err, fs.ErrExist):
		return syscall.EEXIST
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, fs.ErrClosed):
		return err
	case errors.As(err, &no):
		return no
	case errors.Is(err, fs.ErrPermission):
		return syscall.EACCES
	}
	// What os.Root says in words alone: the name leads out of its directory, or
	// is no directory. Here no link is ever followed, so something was swapped.
	return errAgain
}

// openat opens one name in a directory: what was looked at before is what is
// open after, or it is ELOOP, as if a link had been met.
func openat(dir handle, name string, flags int, mode uint32) (handle, error) {
	place := joinPlace(dir.place, name)
	if name == "." {
		place = dir.place
	}
	info, err := dir.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && flags&os.O_CREATE != 0 {
		return create(dir, name, place, flags, mode)
	}
	if err != nil {
		return noHandle, errno(err)
	}
	if flags&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL {
		return noHandle, syscall.EEXIST
	}
	kind := info.Mode()
	writes := flags&oAccMode != os.O_RDONLY
	switch {
	case kind.IsDir() && writes:
		return noHandle, syscall.EISDIR
	case kind.IsDir():
		return openSub(dir, name, place, info, flags&oPath == 0)
	case flags&oDirectory != 0 && kind&fs.ModeSymlink == 0, flags&(oDirectory|oPath) == oDirectory|oPath:
		return noHandle, syscall.ENOTDIR
	case flags&oPath != 0 && flags&oNoFollow != 0:
		in, err := dir.root.OpenRoot(".")
		return &object{top: dir.top, place: place, in: in, info: info}, errno(err)
	case kind&fs.ModeSymlink != 0:
		return noHandle, syscall.ELOOP
	case !kind.IsRegular():
		return noHandle, syscall.ENXIO // not opened: a FIFO would block
	}
	f, err := dir.root.OpenFile(name, flags&^(oPath|oNoFollow|oDirectory|os.O_CREATE|os.O_EXCL), 0)
	if err != nil {
		return noHandle, errno(err)
	}
	return held(&object{top: dir.top, place: place, info: info, file: f})
}

// create makes a file where there was none.
func create(dir handle, name, place string, flags int, mode uint32) (handle, error) {
	f, err := dir.root.OpenFile(name, flags&^(oPath|oNoFollow|oDirectory)|os.O_EXCL, fsat.FileMode(mode))
	if err != nil {
		return noHandle, errno(err)
	}
	info, err := f.Stat()
	return &object{top: dir.top, place: place, info: info, file: f}, errno(err)
}

// openSub holds a directory, and opens it where its names are to be read.
func openSub(dir handle, name, place string, info fs.FileInfo, open bool) (handle, error) {
	root, err := dir.root.OpenRoot(name)
	if err != nil {
		return noHandle, errno(err)
	}
	o := &object{top: dir.top, place: place, info: info, root: root}
	if open {
		if o.file, err = root.Open("."); err != nil {
			closeHandle(o)
			return noHandle, errno(err)
		}
	}
	return held(o)
}

// held makes sure that what is open is what was looked at.
func held(o *object) (handle, error) {
	var now fs.FileInfo
	var err error
	if o.root != nil {
		now, err = o.root.Stat(".")
	} else {
		now, err = o.file.Stat()
	}
	if err == nil && !os.SameFile(now, o.info) {
		err = syscall.ELOOP
	}
	if err != nil {
		closeHandle(o)
		return noHandle, errno(err)
	}
	return o, nil
}

// closeHandle closes what was only read, on the way out.
func closeHandle(o handle) { _ = closeFile(o) }

func closeFile(o handle) error {
	if o == noHandle {
		return nil
	}
	var err error
	if o.file != nil {
		err = o.file.Close()
	}
	for _, root := range []*os.Root{o.root, o.in} {
		if root != nil && root != o.top {
			_ = root.Close()
		}
	}
	return errno(err)
}

func closePath(o handle) { closeHandle(o) }

// now describes what is held as it is now: EAGAIN of the walk when a name that
// was looked at has something else by now.
func (o *object) now() (fs.FileInfo, error) {
	switch {
	case o.file != nil:
		return o.file.Stat()
	case o.root != nil:
		return o.root.Stat(".")
	}
	info, err := o.in.Lstat(o.name())
	if err == nil && !os.SameFile(info, o.info) {
		err = errAgain
	}
	return info, err
}

func fstat(o handle, st *stat) error {
	info, err := o.now()
	if err != nil {
		return errno(err)
	}
	*st = statOf(info)
	if info.Mode().IsRegular() {
		id, err := fileID(o)
		if err != nil {
			return err
		}
		st.Nlink, st.Dev, st.Ino = uint64(id.Links), id.Dev, id.Ino
	}
	return nil
}

func lstatat(dir handle, name string, st *stat) error {
	info, err := dir.root.Lstat(name)
	if err != nil {
		return errno(err)
	}
	*st = statOf(info)
	return nil
}

// statOf is what a FileInfo says in the words of Unix.
func statOf(info fs.FileInfo) stat {
	mode := unixMode(info.Mode())
	switch info.Mode().Type() {
	case 0:
		mode |= syscall.S_IFREG
	case fs.ModeDir:
		mode |= syscall.S_IFDIR
	case fs.ModeSymlink:
		mode |= syscall.S_IFLNK
	case fs.ModeNamedPipe:
		mode |= syscall.S_IFIFO
	case fs.ModeSocket:
		mode |= syscall.S_IFSOCK
	case fs.ModeDevice:
		mode |= syscall.S_IFBLK
	default:
		mode |= syscall.S_IFCHR
	}
	return stat{Mode: mode, Nlink: 1, Size: info.Size(), info: info}
}

func sameFile(a, b *stat) bool { return os.SameFile(a.info, b.info) }

func unchanged(a, b *stat) bool { return a.Mode == b.Mode }

func identify(o handle) (identity, error) { return identity{statOf(o.info).Mode}, nil }

func sameMount(identity, identity) bool { return true }

func readlinkOf(o handle) (string, error) {
	if _, err := o.now(); err != nil {
		return "", errno(err)
	}
	text, err := o.in.Readlink(o.name())
	return text, errno(err)
}

func onProcfs(handle) (bool, error) { return false, nil }

// fileID describes a file that is open, or opens it for that. Only a regular
// file has an identity here, so that nothing else counts as made by the caller.
func fileID(o handle) (resolved.FileID, error) {
	if !o.info.Mode().IsRegular() {
		return resolved.FileID{}, nil
	}
	if o.file != nil {
		return identifyFile(o.file)
	}
	f, err := o.in.Open(o.name())
	if err != nil {
		return resolved.FileID{}, errno(err)
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(now, o.info) {
		return resolved.FileID{}, cmp.Or(errno(err), errAgain)
	}
	return identifyFile(f)
}

func mkdirat(dir handle, name string, mode uint32) error {
	return errno(dir.root.Mkdir(name, fsat.FileMode(mode)))
}

func symlinkat(text string, dir handle, name string) error {
	return errno(dir.root.Symlink(text, name))
}

// linkat gives the held file a name that is still free.
func linkat(file, dir handle, name string) error {
	if _, err := file.now(); err != nil {
		return errno(err)
	}
	return errno(dir.top.Link(filepath.FromSlash(file.place), filepath.FromSlash(joinPlace(dir.place, name))))
}

// renameat moves a name. Within a directory that is held it cannot go astray.
// os.Root exchanges no names, and has no move that replaces nothing: a file is
// linked first, which does not replace one that appears meanwhile; a directory
// replaces at most an empty one.
func renameat(oldDir handle, old string, newDir handle, new string, how RenameHow) error {
	move, link := oldDir.root.Rename, oldDir.root.Link
	from, to := old, new
	if oldDir.place != newDir.place {
		for _, dir := range []handle{oldDir, newDir} {
			if there, err := dir.top.Lstat(filepath.FromSlash(dir.place)); err != nil || !os.SameFile(there, dir.info) {
				return errAgain
			}
		}
		move, link = oldDir.top.Rename, oldDir.top.Link
		from, to = filepath.FromSlash(joinPlace(oldDir.place, old)), filepath.FromSlash(joinPlace(newDir.place, new))
	}
	switch how {
	case RenameExchange:
		return errors.ErrUnsupported
	case RenameNoReplace:
		if _, err := newDir.root.Lstat(new); !errors.Is(err, fs.ErrNotExist) {
			return cmp.Or(errno(err), error(syscall.EEXIST))
		}
		info, err := oldDir.root.Lstat(old)
		if err != nil {
			return errno(err)
		}
		if info.Mode().IsRegular() {
			if err := link(from, to); err != nil {
				return errno(err)
			}
			return errno(oldDir.root.Remove(old))
		}
	}
	return errno(move(from, to))
}

func unlink(dir handle, name string, flags int) error {
	info, err := dir.root.Lstat(name)
	switch {
	case err != nil:
		return errno(err)
	case info.IsDir() && flags != asDir:
		return syscall.EISDIR
	case !info.IsDir() && flags == asDir:
		return syscall.ENOTDIR
	}
	return errno(dir.root.Remove(name))
}

func ftruncate(o handle, size int64) error { return errno(o.file.Truncate(size)) }

func fsync(o handle) error { return errno(o.file.Sync()) }

func fchmod(o handle, mode uint32) error {
	return o.change(func(in *os.Root, name string) error { return in.Chmod(name, fsat.FileMode(mode)) })
}

func fchown(o handle, uid, gid int) error {
	return o.change(func(in *os.Root, name string) error { return in.Chown(name, uid, gid) })
}

func futimes(o handle, atime, mtime time.Time) error {
	return o.change(func(in *os.Root, name string) error { return in.Chtimes(name, atime, mtime) })
}

// change acts on what was looked at, by its name.
func (o *object) change(act func(in *os.Root, name string) error) error {
	if o.root != nil {
		return errno(act(o.root, "."))
	}
	if _, err := o.now(); err != nil {
		return errno(err)
	}
	return errno(act(o.in, o.name()))
}

func read(o handle, p []byte) (int, error) { return system(o.file.Read(p)) }

func pread(o handle, p []byte, off int64) (int, error) { return system(o.file.ReadAt(p, off)) }

func pwrite(o handle, p []byte, off int64) (int, error) { return system(o.file.WriteAt(p, off)) }

// system is what read(2) and write(2) would have said.
func system(n int, err error) (int, error) {
	if n > 0 || err == io.EOF {
		return n, nil
	}
	return n, errno(err)
}

func seek(o handle, off int64, whence int) (int64, error) {
	at, err := o.file.Seek(off, whence)
	return at, errno(err)
}

// names reads a directory from its start, at most so many names.
func names(dir handle, most int) ([]string, error) {
	f, err := dir.root.Open(".")
	if err != nil {
		return nil, errno(err)
	}
	defer f.Close()
	if most == math.MaxInt {
		most = -1
	}
	list, err := f.Readdirnames(most)
	if err == io.EOF {
		err = nil
	}
	return list, errno(err)
}

// newFile is the open file of a handle.
func newFile(o handle, _ string, _ *stat) *os.File {
	if o.root != nil {
		_ = o.root.Close()
	}
	return o.file
}

// fileInfo is a FileInfo under the caller's name.
type fileInfo struct {
	name string
	st   stat
}

func (i *fileInfo) stat() *stat        { return &i.st }
func (i *fileInfo) Size() int64        { return i.st.info.Size() }
func (i *fileInfo) ModTime() time.Time { return i.st.info.ModTime() }
func (i *fileInfo) Sys() any           { return i.st.info.Sys() }

// Name is the caller's, but for a file: its own Stat says so, too.
func (i *fileInfo) Name() string {
	if i.st.info.Mode().IsRegular() {
		return i.st.info.Name()
	}
	return i.name
}

// nameless is for Linux.
func nameless(handle, uint32) (handle, error) { return noHandle, syscall.EOPNOTSUPP }

// anonymous is a file for content that is kept for a while. Where an open file
// cannot lose its name it stays in the temporary directory.
func anonymous() (handle, error) {
	f, err := os.CreateTemp("", "pinfold-")
	if err != nil {
		return noHandle, err
	}
	_ = os.Remove(f.Name())
	return &object{file: f}, nil
}

func fsyncUntil(_ context.Context, o handle) error { return fsync(o) }

func reserve(handle, int64, int64) error { return nil }

// usedBy reports whether a .git above the root is there: whose it is cannot be told.
func usedBy(dotGit string) bool {
	_, err := os.Stat(dotGit)
	return err == nil
}

// listing is for Linux, where a Dir is read by its own descriptor.
type listing struct{}

func (d *Dir) entries() ([]fs.DirEntry, error) {
	f, err := d.fd.root.Open(".") // an offset of its own
	if err != nil {
		return nil, errno(err)
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	kept := make([]fs.DirEntry, 0, len(list))
	for _, e := range list {
		if !d.r.verdictIn(d.place, e.Name()).HidesEntry(e.Type()) {
			kept = append(kept, &walkEntry{dir: d, name: e.Name(), typ: e.Type()})
		}
	}
	return kept, errno(err)
}
