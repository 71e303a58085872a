package pathresolver

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/pinfold-dev/pinfold/access"
)

// Dir is a directory that is held open for a walk. What is hidden is not among
// its entries, and no call on it follows a link: a walk never leaves, and never
// goes in circles. File systems that were mounted after New are refused.
//
// A name that its methods take is one or more plain components joined by "/",
// a place beneath the Dir. Going far down by one call keeps a walk of any
// depth within one descriptor.
//
// Its methods may be called by many goroutines; Close comes after all of them.
type Dir struct {
	r     *Resolver
	place string
	fd    handle
	id    identity // where there is no openat2
	listing
}

// Place is where the directory was found: relative to the root, no links.
func (d *Dir) Place() string { return d.place }

// ReadDir returns the entries, in no order, without hidden ones. Their type is
// the system's; Info asks about the name as it is then. Nothing is promised
// about names that come or go meanwhile.
func (d *Dir) ReadDir() ([]fs.DirEntry, error) {
	entries, err := d.entries()
	return entries, pathError("readdir", d.place, err)
}

// Open opens a regular file. Anything else is refused, a link with ELOOP.
func (d *Dir) Open(name string) (*File, error) {
	place, err := d.child(name, d.r.decideRead)
	if err != nil {
		return nil, pathError("open", place, err)
	}
	f, err := d.openFile(name, place)
	return f, pathError("open", place, err)
}

// OpenDir opens a directory beneath.
func (d *Dir) OpenDir(name string) (*Dir, error) {
	place, err := d.child(name, d.r.decideRead)
	if err != nil {
		return nil, pathError("opendir", place, err)
	}
	sub, err := d.openSub(name, place)
	return sub, pathError("opendir", place, err)
}

// Lstat describes a name; of a link, the link itself.
func (d *Dir) Lstat(name string) (fs.FileInfo, error) {
	place, err := d.child(name, d.r.decideLook)
	if err != nil {
		return nil, pathError("lstat", place, err)
	}
	info, err := d.lstat(name, place)
	if err == nil {
		if err = d.r.refuseTraverseOnly(access.OpRead, place, place, info.Mode()); err != nil {
			info = nil
		}
	}
	return info, pathError("lstat", place, err)
}

// Readlink returns the text of a link, which may name a place outside.
func (d *Dir) Readlink(name string) (string, error) {
	place, err := d.child(name, d.r.decideLook)
	if err != nil {
		return "", pathError("readlink", place, err)
	}
	text, err := d.readlink(name, place)
	if err == nil {
		if err = d.r.refuseTraverseOnly(access.OpRead, place, place, fs.ModeSymlink); err != nil {
			text = ""
		}
	}
	return text, pathError("readlink", place, err)
}

// child is the place of name, decided about.
func (d *Dir) child(name string, decide func(place string) *DeniedError) (string, error) {
	if place, ok := lexicalPlace(name); !ok || place != name || name == "." || name[0] == '/' {
		return name, syscall.EINVAL
	}
	place := joinPlace(d.place, name)
	if d.r.hidesAny() || !d.r.askRead.empty() || !d.r.mask.empty() {
		if denied := decide(place); denied != nil {
			return place, denied
		}
	}
	return place, nil
}

// refuseMount is the refusal where a walk met a file system that is not
// admitted.
func (d *Dir) refuseMount(place string) error {
	return d.r.refuse(access.OpRead, place, RuleMountPoint, "a file system is mounted here that was not there, or not admitted, when the sandbox was set up")
}

// Close releases the directory.
func (d *Dir) Close() error {
	fd := d.fd
	d.fd = noHandle
	if fd == noHandle {
		return fs.ErrClosed
	}
	return closeFile(fd)
}

// dirFlags open a directory to be read.
const dirFlags = os.O_RDONLY | oDirectory | always

// OpenDir opens a directory for walking: it follows links inside the root to
// get there, and none from then on.
func (r *Resolver) OpenDir(unsafePath string) (*Dir, error) {
	fd, place, err := r.openPlaced(unsafePath, dirFlags)
	if err != nil {
		return nil, pathError("opendir", unsafePath, err)
	}
	return r.newDir(fd, place)
}

// newDir takes fd over.
func (r *Resolver) newDir(fd handle, place string) (*Dir, error) {
	d := &Dir{r: r, place: place, fd: fd}
	if r.Mode() == "openat2" {
		return d, nil // it needs no identity to go down
	}
	var err error
	if d.id, err = identify(fd); err != nil {
		closeHandle(fd)
		return nil, err
	}
	return d, nil
}

// openPlaced opens for reading what unsafePath leads to, and says at which
// place it found it.
func (r *Resolver) openPlaced(unsafePath string, flags int) (fd handle, place string, err error) {
	rel, err := r.relative(access.OpRead, unsafePath)
	if err != nil {
		return noHandle, "", err
	}
	for range maxAttempts {
		fd, place, err = r.openDecided(access.OpRead, unsafePath, rel, flags, 0)
		switch err {
		case errAgain:
			continue
		case syscall.ENXIO: // a socket, or a device that nothing drives
			return noHandle, "", refuseSpecial(r, access.OpRead, unsafePath, syscall.S_IFIFO)
		}
		return fd, place, err
	}
	return noHandle, "", r.refuse(access.OpRead, unsafePath, RuleUnstable, "the path kept changing while it was resolved")
}

// beneath opens name from the directory itself, or, where another admitted
// mount lies on the way, from that one.
func (d *Dir) beneath(name, place string, flags int) (fd handle, err error) {
	fd, err = d.r.openBeneath(d.fd, d.id, name, place, flags)
	switch err {
	case syscall.EXDEV:
		return noHandle, d.refuseMount(place)
	case syscall.ENXIO:
		return noHandle, refuseSpecial(d.r, access.OpRead, place, syscall.S_IFIFO)
	}
	return fd, err
}

func (d *Dir) openSub(name, place string) (*Dir, error) {
	fd, err := d.beneath(name, place, dirFlags)
	if err != nil {
		return nil, err
	}
	return d.r.newDir(fd, place)
}

func (d *Dir) openFile(name, place string) (*File, error) {
	fd, err := d.beneath(name, place, os.O_RDONLY|always)
	if err != nil {
		return nil, err
	}
	f, err := d.r.newPlaced(fd, place, place)
	if err != nil {
		return nil, err
	}
	if f.st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		_ = f.Close()
		return nil, syscall.EISDIR
	}
	return f, nil
}

func (d *Dir) lstat(name, place string) (fs.FileInfo, error) {
	fd, err := d.beneath(name, place, oPath|oNoFollow)
	if err != nil {
		return nil, err
	}
	defer closePath(fd)
	_, last := splitPlace(place)
	info := &fileInfo{name: last}
	err = fstat(fd, info.stat())
	return info, err
}

func (d *Dir) readlink(name, place string) (string, error) {
	fd, err := d.beneath(name, place, oPath|oNoFollow)
	if err != nil {
		return "", err
	}
	defer closePath(fd)
	var st stat
	if err := fstat(fd, &st); err != nil {
		return "", err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFLNK {
		return "", syscall.EINVAL
	}
	return readlinkOf(fd)
}

// walkEntry is one line of a Dir's listing.
type walkEntry struct {
	dir  *Dir
	name string
	typ  fs.FileMode
}

func (e *walkEntry) Name() string               { return e.name }
func (e *walkEntry) IsDir() bool                { return e.typ.IsDir() }
func (e *walkEntry) Type() fs.FileMode          { return e.typ }
func (e *walkEntry) Info() (fs.FileInfo, error) { return e.dir.Lstat(e.name) }
func (e *walkEntry) String() string             { return fs.FormatDirEntry(e) }
