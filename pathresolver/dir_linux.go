//go:build !portable

package pathresolver

import (
	"io/fs"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// dirHandle is what a Dir holds on Linux.
type dirHandle struct {
	fd      int
	id      fsat.Identity // for the mode without openat2
	listing atomic.Int32  // who reads by the descriptor's own offset
}

// The values of listing.
const (
	listFresh int32 = iota // nobody yet: the offset is 0
	listBusy
	listDone // it has to go back to 0 first
)

// Close releases the directory.
func (d *Dir) Close() error {
	fd := d.fd
	d.fd = -1
	if fd < 0 {
		return fs.ErrClosed
	}
	return unix.Close(fd)
}

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | always

func (r *Resolver) openWalk(unsafePath string) (*Dir, error) {
	fd, place, err := r.openPlaced(unsafePath, dirFlags)
	if err != nil {
		return nil, pathError("opendir", unsafePath, err)
	}
	return r.newDir(fd, place)
}

// newDir takes fd over.
func (r *Resolver) newDir(fd int, place string) (*Dir, error) {
	d := &Dir{r: r, place: place, dirHandle: dirHandle{fd: fd}}
	if r.openat2 {
		return d, nil
	}
	var err error
	if d.id, err = fsat.Identify(fd); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return d, nil
}

// openPlaced opens for reading what unsafePath leads to, and says at which
// place it found it.
func (r *Resolver) openPlaced(unsafePath string, flags int) (fd int, place string, err error) {
	rel, err := r.relative(OpRead, unsafePath)
	if err != nil {
		return -1, "", err
	}
	for range maxAttempts {
		fd, place, err = r.openDecided(OpRead, unsafePath, rel, flags, 0)
		switch err {
		case errAgain:
			continue
		case unix.ENXIO: // a socket, or a device that nothing drives
			return -1, "", refuseSpecial(r, OpRead, unsafePath, unix.S_IFIFO)
		}
		return fd, place, err
	}
	return -1, "", r.refuse(OpRead, unsafePath, RuleUnstable, "the path kept changing while it was resolved")
}

// beneath opens name from the directory itself, or, where another admitted
// mount lies on the way, from that one.
func (d *Dir) beneath(name, place string, flags int) (fd int, err error) {
	switch {
	case len(d.r.mounts) > 0:
		// Only the whole place tells which mount holds it.
		fd, err = d.r.OpenPlace(place, flags, 0)
	case d.r.openat2:
		fd, err = fsat.Openat2(d.fd, name, flags, 0, beneath)
	default:
		fd, err = d.r.stepTo(d.fd, d.id, name, flags, 0)
	}
	switch err {
	case unix.EXDEV:
		return -1, d.refuseMount(place)
	case unix.ENXIO:
		return -1, refuseSpecial(d.r, OpRead, place, unix.S_IFIFO)
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
	fd, err := d.beneath(name, place, unix.O_RDONLY|always)
	if err != nil {
		return nil, err
	}
	f, err := d.r.newPlaced(fd, place, place)
	if err != nil {
		return nil, err
	}
	if f.st.Mode&unix.S_IFMT != unix.S_IFREG {
		_ = f.Close()
		return nil, unix.EISDIR
	}
	return f, nil
}

func (d *Dir) lstat(name, place string) (fs.FileInfo, error) {
	fd, err := d.beneath(name, place, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	defer fsat.ClosePath(fd)
	_, last := splitPlace(place)
	info := &fileInfo{name: last}
	err = fsat.Fstat(fd, (*unix.Stat_t)(unsafe.Pointer(&info.st)))
	return info, err
}

func (d *Dir) readlink(name, place string) (string, error) {
	fd, err := d.beneath(name, place, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return "", err
	}
	defer fsat.ClosePath(fd)
	var st unix.Stat_t
	if err := fsat.Fstat(fd, &st); err != nil {
		return "", err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return "", unix.EINVAL
	}
	return fsat.Readlink(fd)
}

// direntBuffers are for getdents64, whose records do not outlive one call.
var direntBuffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// entries reads from the start. A block of records costs one string, which
// all of its names share, and one array.
func (d *Dir) entries() ([]fs.DirEntry, error) {
	buf := direntBuffers.Get().(*[64 << 10]byte)
	defer direntBuffers.Put(buf)
	fd, done, err := d.reader()
	if err != nil {
		return nil, err
	}
	defer done()
	hides := d.r.MayHoldHidden(d.place)
	var list []fs.DirEntry
	for {
		n, err := fsat.ReadDirent(fd, buf[:])
		if n == 0 || err != nil {
			return list, err
		}
		list = d.block(list, buf[:n], hides)
	}
}

// reader is a descriptor whose offset is at the start and nobody else's: the
// Dir's own for the first who comes, a new one for who comes meanwhile.
func (d *Dir) reader() (fd int, done func(), err error) {
	switch {
	case d.listing.CompareAndSwap(listFresh, listBusy):
	case d.listing.CompareAndSwap(listDone, listBusy):
		if _, err := unix.Seek(d.fd, 0, unix.SEEK_SET); err != nil {
			d.listing.Store(listDone)
			return -1, nil, err
		}
	default:
		if fd, err = fsat.Openat(d.fd, ".", dirFlags, 0); err != nil {
			return -1, nil, err
		}
		return fd, func() { _ = unix.Close(fd) }, nil
	}
	return d.fd, func() { d.listing.Store(listDone) }, nil
}

// block appends the entries of one getdents64.
func (d *Dir) block(list []fs.DirEntry, raw []byte, hides bool) []fs.DirEntry {
	text := string(raw)
	block := make([]walkEntry, 0, len(raw)/32) // a record has 24 bytes or more; "." and ".." are most of the short ones
	for off := 0; ; {
		start, end, kind, next, ok := fsat.NextDirent(raw, off)
		if !ok {
			break
		}
		off = next
		name := text[start:end]
		if name == "." || name == ".." || name == "" {
			continue
		}
		typ := d.entryType(name, kind)
		if hides && d.r.VerdictIn(d.place, name).hidesEntry(typ) {
			continue
		}
		block = append(block, walkEntry{dir: d, name: name, typ: typ})
	}
	if cap(list)-len(list) < len(block) {
		grown := make([]fs.DirEntry, len(list), 2*len(list)+len(block))
		copy(grown, list)
		list = grown
	}
	for i := range block {
		list = append(list, &block[i])
	}
	return list
}

func (d *Dir) entryType(name string, kind byte) fs.FileMode {
	switch kind {
	case unix.DT_REG:
		return 0
	case unix.DT_DIR:
		return fs.ModeDir
	case unix.DT_LNK:
		return fs.ModeSymlink
	case unix.DT_FIFO:
		return fs.ModeNamedPipe
	case unix.DT_SOCK:
		return fs.ModeSocket
	case unix.DT_BLK:
		return fs.ModeDevice
	case unix.DT_CHR:
		return fs.ModeDevice | fs.ModeCharDevice
	}
	// Some file systems do not tell.
	var st unix.Stat_t
	if err := fsat.Lstatat(d.fd, name, &st); err != nil {
		return fs.ModeIrregular
	}
	return fsat.FileMode(st.Mode).Type()
}
