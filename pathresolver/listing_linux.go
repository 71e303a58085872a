//go:build !portable

package pathresolver

import (
	"io/fs"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// listing says who reads a Dir by the descriptor's own offset.
type listing struct{ state atomic.Int32 }

// The states of a listing.
const (
	listFresh int32 = iota // nobody yet: the offset is 0
	listBusy
	listDone // it has to go back to 0 first
)

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
	hides := d.r.mayHoldHidden(d.place)
	var list []fs.DirEntry
	for {
		n, err := fsat.ReadDirent(fd, buf[:])
		if n == 0 || err != nil {
			return list, err
		}
		list = d.block(list, buf[:n], hides)
	}
}

// reader is a descriptor whose offset is at the start and that no other caller moves:
// the Dir's own for the first caller, and a new one for each that comes meanwhile.
func (d *Dir) reader() (fd handle, done func(), err error) {
	switch {
	case d.state.CompareAndSwap(listFresh, listBusy):
	case d.state.CompareAndSwap(listDone, listBusy):
		if _, err := unix.Seek(d.fd, 0, unix.SEEK_SET); err != nil {
			d.state.Store(listDone)
			return noHandle, nil, err
		}
	default:
		if fd, err = openat(d.fd, ".", dirFlags, 0); err != nil {
			return noHandle, nil, err
		}
		return fd, func() { closeHandle(fd) }, nil
	}
	return d.fd, func() { d.state.Store(listDone) }, nil
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
		if hides && d.r.verdictIn(d.place, name).HidesEntry(typ) {
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
	var st stat
	if err := lstatat(d.fd, name, &st); err != nil {
		return fs.ModeIrregular
	}
	return fsat.FileMode(st.Mode).Type()
}
