package sandboxfs

import (
	"sync/atomic"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

const (
	// longRead is how long a read takes that had to wait for a disk. Copying
	// the largest request takes a third of it.
	longRead = 200 * time.Microsecond
	// waryFor is after how many reads it is tried again not to expect that.
	waryFor = 32
)

// pace tells whether reads have to wait for a disk where the file system cannot
// say so itself (RWF_NOWAIT: overlayfs, tmpfs, FUSE and others): by those before.
type pace struct {
	needed  atomic.Bool  // the file system cannot say so
	reading atomic.Int32 // reads that go by this
	wary    atomic.Int32 // how many are still expected to wait
}

// begin reports whether a read is expected to wait. One that is not done when
// the next comes does, or the lead would not have been taken from it; the next
// may have to, too, and would add the watchdog's patience to the wait of all
// others.
func (p *pace) begin() (slow bool) {
	return p.reading.Add(1) > 1 || p.wary.Load() > 0 && p.wary.Add(-1) >= 0
}

// end is called with how long the read took.
func (p *pace) end(took time.Duration) {
	if took > longRead {
		p.wary.Store(waryFor)
	}
	p.reading.Add(-1)
}

// readNow fills buf from a file, as far as that goes, unless that may have to
// wait for a disk.
func (p *part) readNow(fd int, buf []byte, off int64) (done int, ok bool) {
	if p.pace.needed.Load() {
		return 0, false
	}
	for {
		size, err := unix.Preadv2(fd, [][]byte{buf[done:]}, off+int64(done), unix.RWF_NOWAIT)
		if err != nil {
			if err == unix.EOPNOTSUPP {
				p.pace.needed.Store(true)
			}
			return 0, false
		}
		if done += size; size == 0 || done == len(buf) {
			return done, true
		}
	}
}

// mayWait is called before a read that is not to be had at once: others are
// answered first if it is expected to take long. What it returns is for waited.
func (p *part) mayWait(h *fuse.InHeader) (began time.Time) {
	if !p.pace.needed.Load() {
		p.slow(h)
		return time.Time{}
	}
	if p.pace.begin() {
		p.slow(h)
	}
	return time.Now()
}

// waited is called after such a read.
func (p *part) waited(began time.Time) {
	if !began.IsZero() {
		p.pace.end(time.Since(began))
	}
}
