package fuseconn

import (
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// readFile answers a read.
func (c *Conn) readFile(q request, in *fuse.ReadIn) (size int) {
	if int(in.Size) > len(q.room)-outHeaderSize {
		return q.fail(fuse.EIO)
	}
	fd, release, st := c.h.ReadFile(in)
	if st != fuse.OK {
		return q.fail(st)
	}
	defer release()
	n, err := c.pread(in.Unique, fd, q.room[outHeaderSize:][:in.Size], int64(in.Offset))
	if err != nil {
		return q.fail(fuse.ToStatus(err))
	}
	return q.finish(n, fuse.OK)
}

// writeFile answers a write.
func (c *Conn) writeFile(q request, in *fuse.WriteIn) (size int) {
	data := q.in[unsafe.Sizeof(*in):]
	if int(in.Size) != len(data) {
		return q.fail(fuse.EIO)
	}
	// Another write is being answered besides only if it takes long (or has just
	// handed over). Then this one may take long, too, and each that had to wait
	// for the watchdog would add that to the wait of the next request.
	defer c.writing.Add(-1)
	if c.writing.Add(1) > 1 {
		c.slow(in.Unique)
	}
	out := answerOf[fuse.WriteOut](q, &size)
	var st fuse.Status
	out.Size, st = c.h.Write(nil, in, data)
	return q.finish(size, st)
}

const (
	// longRead is how long a read takes that had to wait for a disk. Copying
	// the largest request takes a third of it.
	longRead = 200 * time.Microsecond
	// waryFor is how many reads after a long one are expected to wait, too.
	waryFor = 32
)

// slowReads is a heuristic for file systems that cannot say whether a read has
// to wait for a disk (RWF_NOWAIT is refused by overlayfs, tmpfs, FUSE and
// others): it expects of a read what those before it did. Without it each read
// would start another reader loop, which costs more than most reads: on tmpfs
// writing to maps took 0.7 to 0.86 and go build 0.75 of the time with that.
type slowReads struct {
	needed  atomic.Bool  // the file system cannot say so
	reading atomic.Int32 // reads that go by this
	wary    atomic.Int32 // how many are still expected to wait
}

// begin reports whether a read is expected to wait. A read that is not done when the
// next one comes does wait, or the next one would not have been read yet. The next may
// wait, too, and would hold up all others until the watchdog looks.
func (s *slowReads) begin() (slow bool) {
	return s.reading.Add(1) > 1 || s.wary.Load() > 0 && s.wary.Add(-1) >= 0
}

// end is called with how long the read took.
func (s *slowReads) end(took time.Duration) {
	if took > longRead {
		s.wary.Store(waryFor)
	}
	s.reading.Add(-1)
}

// pread reads what is in memory at once. Before it waits for a disk other
// requests are answered.
func (c *Conn) pread(unique uint64, fd int, buf []byte, off int64) (int, error) {
	if n, ok := c.readNow(fd, buf, off); ok {
		return n, nil
	}
	if !c.slowReads.needed.Load() {
		c.slow(unique)
		return fsat.Pread(fd, buf, off)
	}
	if c.slowReads.begin() {
		c.slow(unique)
	}
	began := time.Now()
	defer func() { c.slowReads.end(time.Since(began)) }()
	return fsat.Pread(fd, buf, off)
}

// readNow fills buf from a file, as far as that goes, unless that may have to
// wait for a disk.
func (c *Conn) readNow(fd int, buf []byte, off int64) (done int, ok bool) {
	if c.slowReads.needed.Load() {
		return 0, false
	}
	for {
		size, err := unix.Preadv2(fd, [][]byte{buf[done:]}, off+int64(done), unix.RWF_NOWAIT)
		if err != nil {
			if err == unix.EOPNOTSUPP {
				c.slowReads.needed.Store(true)
			}
			return 0, false
		}
		if done += size; size == 0 || done == len(buf) {
			return done, true
		}
	}
}
