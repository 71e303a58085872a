package sandboxfs

import (
	"bytes"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// OpenDir is answered with ENOSYS in the read-only mount, once. From then on the
// kernel opens directories by itself, and remembers what it has read of them until
// they change. Each reading opens the directory anew; the offsets are those of the
// host's file system, which keeps them stable.
//
// In a write mount the kernel trusts a name for a second, but a listing until the
// directory's time of change moves. With a listing that it remembers it would have to
// look up each name singly, as it did: two requests a file for rm -rf. So a listing
// that is no longer fresh is read again, and brings the names with it.
func (c *connection) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	if c.ReadOnly {
		return fuse.ENOSYS
	}
	n, err := c.node(in.NodeId)
	if err != nil {
		return status(err)
	}
	if c.askedListing(n) {
		out.Fh = c.listings.open()
		return fuse.OK
	}
	out.OpenFlags = fuse.FOPEN_CACHE_DIR
	if n.listed.Load() > c.age()-freshListing || c.long.keeps(n) {
		out.OpenFlags |= fuse.FOPEN_KEEP_CACHE
	}
	return fuse.OK
}

// freshListing is for how long after a listing its names are valid long enough
// for a program that goes through them, in milliseconds.
const freshListing = int32(validPlain / time.Millisecond / 3)

// age is how long the mount has been there, in milliseconds. It begins with more
// than freshListing, so that 0, of a node that was never listed, is not fresh.
func (c *connection) age() int32 {
	return int32(min(time.Since(c.begun)/time.Millisecond, 1<<30)) + freshListing + 1
}

// ReadDir lists names. Hidden ones are left out.
func (c *connection) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return c.list(in, int(in.Size), func(l *listing, e dirent, _ resolved.Verdict) bool {
		return out.AddDirEntry(l.entry(e))
	})
}

// ReadDirPlus lists names and what a Lookup of each would answer.
func (c *connection) ReadDirPlus(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	if n := c.tab.get(in.NodeId); n != nil && in.Offset == 0 {
		n.listed.Store(c.age())
	}
	return c.list(in, int(in.Size)/plusSize, func(l *listing, e dirent, verdict resolved.Verdict) bool {
		var sx unix.Statx_t
		known := !c.long.more(l.dir) && e.name != "." && e.name != ".." && (!c.ReadOnly || !verdict.AskRead)
		if known {
			err := fsat.Statx(l.fd, e.name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, statxMask, &sx)
			if err == unix.ENOENT {
				return true // gone since
			}
			// What is mounted on the name is looked at only when asked for.
			known = err == nil && sameMount(&sx, &l.sx)
		}
		known = known && (!verdict.TraverseOnly || sx.Mode&unix.S_IFMT == unix.S_IFDIR)
		plain := l.entry(e)
		if known {
			plain.Mode = uint32(sx.Mode)
		}
		answer := out.AddDirLookupEntry(plain)
		if answer == nil {
			return false
		}
		if !known {
			return true
		}
		if n := c.tab.fixedChild(l.dir, e.name); n == nil {
			c.answer(l.dir, e.name, verdict, l.watched, &sx, answer)
		} else {
			_ = c.answerFixed(n, answer)
		}
		return true
	})
}

// maxForeseen is how many names of a directory a listing brings with what a Lookup would
// answer. Who lists more seldom wants to know of each: to list 100,000 took ten times as
// long as on the host, and takes twice as long. What it costs is a request for each
// further name that is looked up. Tests lower it.
var maxForeseen uint64 = 10_000

// longLists are directories that are being listed, or were and have more names than
// maxForeseen. A listing of these brings no names that go stale, so that the kernel may
// remember it as long as the directory's time of change stays. Two directories in one
// slot forget each other, which costs time only.
type longLists struct {
	slots [64]struct {
		node, seen atomic.Uint64
		changing   atomic.Bool // just when it was listed: the time of the next change may be the same
	}
}

// begin starts to count anew; what is known to be long stays so.
func (l *longLists) begin(n *node, changed time.Time) {
	s := &l.slots[n.id%uint64(len(l.slots))]
	if s.node.Swap(n.id) != n.id || s.seen.Load() <= maxForeseen {
		s.seen.Store(0)
	}
	s.changing.Store(time.Since(changed) < time.Second)
}

// more counts a name, and reports whether it is one too many.
func (l *longLists) more(n *node) bool {
	s := &l.slots[n.id%uint64(len(l.slots))]
	return s.node.Load() == n.id && s.seen.Add(1) > maxForeseen
}

// keeps reports whether the kernel may keep what it has read of a directory.
func (l *longLists) keeps(n *node) bool {
	s := &l.slots[n.id%uint64(len(l.slots))]
	return s.node.Load() == n.id && s.seen.Load() > maxForeseen && !s.changing.Load()
}

// listing is one pass over a directory.
type listing struct {
	c       *connection
	dir     *node
	fd      int
	place   string
	sx      unix.Statx_t
	watched bool
}

func (l *listing) entry(e dirent) fuse.DirEntry {
	return fuse.DirEntry{Name: e.name, Ino: l.c.inode(e.ino, deviceOf(&l.sx)), Mode: e.typ, Off: e.next}
}

// list opens the directory of a request and calls add for each name that is
// not hidden, until add has no more room. About room bytes of what the directory holds
// fit into the answer.
func (c *connection) list(in *fuse.ReadIn, room int, add func(*listing, dirent, resolved.Verdict) bool) fuse.Status {
	return c.asking(&in.InHeader, func(grant pathresolver.Grant) error {
		if grant == nil {
			grant = c.listings.granted(in.Fh)
		} else {
			c.listings.grant(in.Fh, grant)
		}
		return c.listGranted(in, room, add, grant)
	})
}

func (c *connection) listGranted(in *fuse.ReadIn, room int, add func(*listing, dirent, resolved.Verdict) bool, grant pathresolver.Grant) error {
	c.moves.RLock()
	defer c.moves.RUnlock()
	dir, err := c.node(in.NodeId)
	if err != nil {
		return err
	}
	l := listing{c: c, dir: dir}
	l.fd, l.place, err = c.open(dir, unix.O_RDONLY|unix.O_DIRECTORY, &l.sx)
	if err != nil {
		return err
	}
	defer closeFD(l.fd)
	if c.rules().AsksRead() {
		if d := c.rules().DecideGranted(grant, access.OpRead, l.place, 0); d != nil {
			return c.ask(&in.InHeader, "readdir", d, grant, operation{op: access.OpRead, place: l.place})
		}
	}
	l.watched = c.watch.add(dir, l.fd, &l.sx)
	if in.Offset == 0 {
		c.long.begin(dir, time.Unix(l.sx.Mtime.Sec, int64(l.sx.Mtime.Nsec)))
	}
	return eachEntry(l.fd, in.Offset, room, func(e dirent) bool {
		var verdict resolved.Verdict
		if e.name != "." && e.name != ".." {
			verdict = c.rules().VerdictIn(l.place, e.name)
		}
		hidden := verdict.Hidden || verdict.TraverseOnly && e.typ != 0 && e.typ != unix.S_IFDIR
		return hidden || add(&l, e, verdict)
	})
}

// ReleaseDir ends a listing.
func (c *connection) ReleaseDir(in *fuse.ReleaseIn) {
	if in.Fh != 0 {
		c.listings.close(in.Fh)
	}
}

// FsyncDir is fsync(2) of a directory.
func (c *connection) FsyncDir(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	if c.ReadOnly {
		return fuse.OK
	}
	c.moves.RLock()
	n, err := c.node(in.NodeId)
	fd := -1
	if err == nil {
		var sx unix.Statx_t
		fd, _, err = c.open(n, unix.O_RDONLY|unix.O_DIRECTORY, &sx)
	}
	c.moves.RUnlock() // nobody has to wait for the disk
	if err != nil {
		return status(err)
	}
	defer closeFD(fd)
	c.slow(&in.InHeader)
	return status(unix.Fsync(fd))
}

// listings are the open directories that have to be asked for. A listing takes
// several requests: what was allowed to the first of them lasts until the
// directory is closed.
type listings struct {
	mu    sync.Mutex
	last  uint64
	given map[uint64]pathresolver.Grant // by handle
}

// askedListing reports whether listing a directory has to be asked for. The
// kernel must not remember it for others then.
func (c *connection) askedListing(n *node) bool {
	if c.v.asks == nil || !c.rules().AsksRead() {
		return false
	}
	place, err := c.tab.place(n)
	return err == nil && c.rules().Verdict(place).AskRead
}

// open returns a handle, which is not 0.
func (l *listings) open() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.given == nil {
		l.given = map[uint64]pathresolver.Grant{}
	}
	l.last++
	l.given[l.last] = nil
	return l.last
}

// granted is what was granted to a handle; 0 is none.
func (l *listings) granted(fh uint64) pathresolver.Grant {
	if fh == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.given[fh]
}

func (l *listings) grant(fh uint64, grant pathresolver.Grant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, open := l.given[fh]; open {
		l.given[fh] = grant
	}
}

func (l *listings) close(fh uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.given, fh)
}

const (
	// dirBuffer is how much of a directory is read by one system call, in bytes, at most,
	// and leastRead how much at least: more than one entry.
	dirBuffer, leastRead = 32 << 10, 1 << 10
	// plusSize is how many times as much room an entry takes with what a Lookup would
	// answer, for names of 16 bytes.
	plusSize = 4
)

var dirBuffers = sync.Pool{New: func() any { return new([dirBuffer]byte) }}

// dirent is one entry of getdents64(2). next is the offset after it, which
// the file system gave and understands in another descriptor too.
type dirent struct {
	ino  uint64
	next uint64
	typ  uint32 // S_IFMT bits, 0 if unknown
	name string
}

// eachEntry reads a directory from an offset on until yield returns false, which is
// expected after about room bytes. What is read beyond is read again by the next
// request.
func eachEntry(fd int, from uint64, room int, yield func(dirent) bool) error {
	if from != 0 {
		if _, err := unix.Seek(fd, int64(from), unix.SEEK_SET); err != nil {
			return err
		}
	}
	buf := dirBuffers.Get().(*[dirBuffer]byte)
	defer dirBuffers.Put(buf)
	part := buf[:min(max(room, leastRead), dirBuffer)]
	for {
		size, err := unix.Getdents(fd, part)
		if err == unix.EINTR {
			continue
		}
		if err == unix.ENOENT { // removed while it was open: it is empty
			return nil
		}
		if err != nil || size <= 0 {
			return err
		}
		for rest := part[:size]; len(rest) > 19; {
			length := int(binary.NativeEndian.Uint16(rest[16:]))
			if length < 20 || length > len(rest) {
				return unix.EIO
			}
			name, _, _ := bytes.Cut(rest[19:length], []byte{0})
			entry := dirent{
				ino:  binary.NativeEndian.Uint64(rest),
				next: binary.NativeEndian.Uint64(rest[8:]),
				typ:  uint32(rest[18]) << 12,
				name: string(name),
			}
			if !yield(entry) {
				return nil
			}
			rest = rest[length:]
		}
	}
}
