package sandboxfs

import (
	"sync/atomic"
	"time"
)

const (
	// longRead is how long a read takes that had to wait for a disk. Copying
	// the largest request takes a third of it.
	longRead = 200 * time.Microsecond
	// waryFor is after how many reads it is tried again not to expect that.
	waryFor = 32
)

// pace tells whether reads have to wait for a disk where the file system cannot
// say so itself (overlayfs, tmpfs; RWF_NOWAIT): by those before.
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
